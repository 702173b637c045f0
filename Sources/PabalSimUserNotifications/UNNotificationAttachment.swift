#if !os(iOS)
public import Foundation

/// https://developer.apple.com/documentation/usernotifications/unnotificationattachment
open class UNNotificationAttachment: NSObject {
  public let identifier: String
  public let url: URL
  /// A uniform type identifier, such as `public.png`.
  public let type: String
  public let simulatedIsThumbnailHidden: Bool

  /// Checks the file at `url` as the system does when a request is added.
  ///
  /// - Parameter identifier: an empty one is replaced by a unique one.
  /// - Throws: `UNError`: no file URL or no such file (100), a type that the system does not show (101), a file above
  ///   the limit of its kind (102: image 10 MB, audio 5 MB, movie 50 MB) or an empty one (102).
  public init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
    guard url.isFileURL else { throw UNError(.attachmentInvalidURL) }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
      throw UNError(.attachmentInvalidURL)
    }
    let hint = options?[UNNotificationAttachmentOptionsTypeHintKey] as? String
    guard let kind = AttachmentKind(typeHint: hint, pathExtension: url.pathExtension) else {
      throw UNError(.attachmentUnrecognizedType)
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    guard let bytes = attributes[.size] as? Int, bytes > 0, bytes <= kind.maximumBytes else {
      throw UNError(.attachmentInvalidFileSize)
    }
    self.identifier = identifier.isEmpty ? UUID().uuidString : identifier
    self.url = url
    type = kind.typeIdentifier
    simulatedIsThumbnailHidden = (options?[UNNotificationAttachmentOptionsThumbnailHiddenKey] as? Bool) ?? false
    super.init()
  }

  /// An attachment as the system hands it out later: the file stands in the system's own store.
  public init(simulated identifier: String, storedAt url: URL, type: String) {
    self.identifier = identifier
    self.url = url
    self.type = type
    simulatedIsThumbnailHidden = false
    super.init()
  }

  public class func attachment(
    withIdentifier identifier: String, url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> UNNotificationAttachment {
    try UNNotificationAttachment(identifier: identifier, url: url, options: options)
  }
}

/// A uniform type identifier that wins over the file's extension.
public let UNNotificationAttachmentOptionsTypeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
public let UNNotificationAttachmentOptionsThumbnailHiddenKey = "UNNotificationAttachmentOptionsThumbnailHiddenKey"
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey =
  "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
public let UNNotificationAttachmentOptionsThumbnailTimeKey = "UNNotificationAttachmentOptionsThumbnailTimeKey"

/// The file types that the system shows, with their limits.
///
/// Source: the table "Supported file types" of Apple's page on UNNotificationAttachment.
struct AttachmentKind {
  let typeIdentifier: String
  let maximumBytes: Int

  private static let megabyte = 1024 * 1024
  private static let table: [(type: String, extensions: [String], maximumBytes: Int)] = [
    ("public.jpeg", ["jpg", "jpeg"], 10 * megabyte),
    ("com.compuserve.gif", ["gif"], 10 * megabyte),
    ("public.png", ["png"], 10 * megabyte),
    ("public.aiff-audio", ["aif", "aiff"], 5 * megabyte),
    ("com.microsoft.waveform-audio", ["wav"], 5 * megabyte),
    ("public.mp3", ["mp3"], 5 * megabyte),
    ("public.mpeg-4-audio", ["m4a"], 5 * megabyte),
    ("public.mpeg", ["mpg", "mpeg"], 50 * megabyte),
    ("public.mpeg-2-video", ["m2v"], 50 * megabyte),
    ("public.mpeg-4", ["mp4", "m4v"], 50 * megabyte),
    ("public.avi", ["avi"], 50 * megabyte),
  ]

  init?(typeHint: String?, pathExtension: String) {
    let found =
      if let typeHint {
        Self.table.first { $0.type == typeHint }
      } else {
        Self.table.first { $0.extensions.contains(pathExtension.lowercased()) }
      }
    guard let found else { return nil }
    typeIdentifier = found.type
    maximumBytes = found.maximumBytes
  }
}
#endif
