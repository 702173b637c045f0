#if !os(iOS)
internal import Foundation
internal import PabalSimUserNotifications

/// The system's own folder for attachments: it checks a file and then moves it out of the app's hands.
struct AttachmentStore: Sendable {
  /// Inside the phone's files.
  let folder: URL

  /// Checks and moves the file of `attachment`.
  ///
  /// - Throws: `UNError`: the file is gone (100), is not what its type says (105), or cannot be moved (104).
  func take(_ attachment: ContentRecord.Attachment) throws -> ContentRecord.Attachment {
    guard FileManager.default.fileExists(atPath: attachment.url.path) else { throw UNError(.attachmentInvalidURL) }
    let content = try Data(contentsOf: attachment.url, options: .mappedIfSafe)
    let head = Array(content.prefix(16))
    if let expected = Self.signatures[attachment.type], !expected.contains(where: { $0.matches(head) }) {
      throw UNError(.attachmentCorrupt)
    }
    let own = folder.appendingPathComponent(UUID().uuidString, isDirectory: true)
    let target = own.appendingPathComponent(attachment.url.lastPathComponent)
    do {
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
      try FileManager.default.moveItem(at: attachment.url, to: target)
    } catch {
      throw UNError(.attachmentMoveIntoDataStoreFailed)
    }
    return ContentRecord.Attachment(
      identifier: attachment.identifier, url: target, type: attachment.type, byteCount: content.count)
  }

  private struct Signature: Sendable {
    var offset = 0
    var bytes: [UInt8]

    func matches(_ head: [UInt8]) -> Bool {
      head.dropFirst(offset).starts(with: bytes)
    }
  }

  /// The first bytes of the types that we check; the others are taken as they say.
  private static let signatures: [String: [Signature]] = [
    "public.png": [Signature(bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])],
    "public.jpeg": [Signature(bytes: [0xFF, 0xD8, 0xFF])],
    "com.compuserve.gif": [Signature(bytes: Array("GIF87a".utf8)), Signature(bytes: Array("GIF89a".utf8))],
    "public.mpeg-4": [Signature(offset: 4, bytes: Array("ftyp".utf8))],
    "public.mpeg-4-audio": [Signature(offset: 4, bytes: Array("ftyp".utf8))],
  ]
}
#endif
