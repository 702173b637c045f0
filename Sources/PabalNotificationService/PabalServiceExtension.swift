internal import Foundation
public import PabalCore
internal import PabalMailbox
internal import PabalModel
internal import PabalPrimitives

#if os(iOS)
@preconcurrency public import UserNotifications
#else
public import PabalSimUserNotifications
#endif

/// The whole notification service extension of an app:
///
/// ```swift
/// nonisolated final class NotificationService: PabalServiceExtension {}
/// ```
///
/// with the key `PabalAppGroup` in the extension's Info.plist. It writes down that the push arrived, which the app
/// reports later, and attaches the picture that the payload names (root key `image` or `imageUrl`). Whatever fails or
/// takes too long, the notification is shown, once, with the best there is.
open class PabalServiceExtension: UNNotificationServiceExtension {
  /// Ours ends before the system's (about 30 seconds), which may come late on a busy device.
  public static let deadline = Duration.seconds(25)

  private let delivery = Locked<ServiceDelivery?>(nil)

  public override init() {
    super.init()
  }

  /// What the extension is given instead of asking the system; override it only to simulate a device.
  open class func environment() -> PabalEnvironment { .live() }

  /// The group that app and extension share.
  open class func appGroup() -> String? {
    Bundle.main.object(forInfoDictionaryKey: "PabalAppGroup") as? String
  }

  /// To change the text as well, override this, and call `super` with a handler that changes what it is given.
  open override func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let environment = Self.environment()
    let payload = UserInfoReader.json(request.content.userInfo)
    Self.writeReceipt(payload, environment)
    guard let content = request.content.mutableCopy() as? UNMutableNotificationContent,
      let address = UserInfoReader.text("image", in: payload) ?? UserInfoReader.text("imageUrl", in: payload),
      let url = URL(string: address), MediaDownload.allows(url)
    else { return contentHandler(request.content) }

    let delivery = ServiceDelivery(content, handler: contentHandler)
    self.delivery.withLock { $0 = delivery }
    let download = MediaDownload(
      http: environment.http, randomness: environment.randomness,
      folder: URL(fileURLWithPath: NSTemporaryDirectory()))
    let timer = environment.timers.schedule(Self.deadline) { delivery.finish() }
    let task = Task {
      do {
        let media = try await download.fetch(url)
        if !delivery.finish(with: media) { try FileManager().removeItem(at: media.file) }
      } catch {
        delivery.finish()
      }
    }
    delivery.holds(task, timer)
  }

  open override func serviceExtensionTimeWillExpire() {
    delivery.withLock { $0 }?.finish()
  }

  /// Before anything that can fail or take time: the server learns from it that the push arrived.
  private static func writeReceipt(_ payload: JSONValue, _ environment: PabalEnvironment) {
    guard let identity = UserInfoReader.identity(payload), let group = appGroup(),
      let folder = environment.sharedContainer(group)
    else { return }
    let mailbox = Mailbox(folder: folder.path, files: environment.files, randomness: environment.randomness)
    do throws(DurableFileError) {
      try mailbox.put(
        MailboxRecord(
          messageID: identity.message.rawValue, deliveryID: identity.delivery.rawValue,
          receivedAt: environment.clock.wall()))
    } catch {
      // A full disk or a device not unlocked yet: the notification matters more than its receipt.
    }
  }
}
