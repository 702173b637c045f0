import Foundation
import PabalCore
import PabalMailbox
import PabalNotificationService
import PabalPrimitives
import PabalSimUserNotifications
import PabalSimulation
import Testing

/// One run of the extension, called as the system calls it.
final class ExtensionBench: Sendable {
  /// What the network answers; called for each download.
  typealias Network = @Sendable (HTTPDownload) async throws -> HTTPFile

  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("extension-" + UUID().uuidString)
  let clock = PhoneClock(startingAt: WallTime(milliseconds: 1_800_000_000_000))
  private let answers = Locked<[Shown]>([])
  private let started = Locked<[String]>([])
  private let network: Network

  struct Shown: Sendable, Equatable {
    let title: String
    let attachments: [URL]
    let types: [String]
  }

  init(network: @escaping Network = { _ in throw HTTPFailure(.unreachable) }) {
    self.network = network
  }

  deinit {
    // There is no system here that takes the attachments out of the extension's hands.
    for leftover in [folder] + shown.flatMap(\.attachments) {
      do {
        try FileManager.default.removeItem(at: leftover)
      } catch {
        // The extension wrote nothing, or a test has moved the file.
      }
    }
  }

  var shown: [Shown] { answers.withLock { $0 } }
  var requested: [String] { started.withLock { $0 } }

  var receipts: [MailboxRecord] {
    get throws { try Mailbox(folder: folder.appendingPathComponent("group.test").path).entries().map(\.record) }
  }

  var environment: PabalEnvironment {
    let clock = clock
    let folder = folder
    return PabalEnvironment(
      clock: clock.clock,
      timers: PabalTimers { delay, fire in
        let id = clock.schedule(after: delay, fire)
        return PabalTimer { clock.cancel(id) }
      },
      randomness: .system,
      http: HTTPClient(
        send: { _ in throw HTTPFailure(.unreachable) },
        download: { [network, started] download in
          started.withLock { $0.append(download.url.absoluteString) }
          return try await network(download)
        }),
      keychain: PabalKeychain(
        read: { _ throws(PabalKeychainError) in nil }, write: { _, _ throws(PabalKeychainError) in }),
      application: {
        PabalApplicationFacts(
          bundleID: "", appVersion: "", osVersion: "", model: "", locale: "", timeZone: "", hasServiceExtension: true,
          hasContentExtension: false)
      },
      container: folder, sharedContainer: { folder.appendingPathComponent($0) })
  }

  /// Hands the extension a push with this root; returns the extension, which the system would keep.
  @discardableResult
  func receive(_ root: [String: any Sendable]) -> UNNotificationServiceExtension {
    let content = UNMutableNotificationContent()
    content.title = "제목"
    content.userInfo = root.reduce(into: [:]) { $0[$1.key] = $1.value }
    let request = UNNotificationRequest(identifier: "r", content: content, trigger: nil)
    return BenchExtension.$bench.withValue(self) { () -> UNNotificationServiceExtension in
      let service = BenchExtension()
      service.didReceive(request) { content in
        let shown = Shown(
          title: content.title, attachments: content.attachments.map(\.url), types: content.attachments.map(\.type))
        self.answers.withLock { $0.append(shown) }
      }
      return service
    }
  }

  func untilShown() async {
    while shown.isEmpty { await Task.yield() }
  }
}

/// As an app writes it, and with the bench in place of the device.
final class BenchExtension: PabalServiceExtension {
  @TaskLocal static var bench: ExtensionBench?

  override class func environment() -> PabalEnvironment {
    guard let bench else { preconditionFailure("made outside of a bench") }
    return bench.environment
  }

  override class func appGroup() -> String? { "group.test" }
}

/// The line of an app under Xcode 26's settings.
nonisolated final class NotificationService: PabalServiceExtension {}

enum Sample {
  static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
  static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1]
  static let html = Array("<html><body>no</body></html>".utf8)
}

/// A network that gives these bytes.
func giving(_ bytes: [UInt8], mimeType: String?, status: Int = 200) -> ExtensionBench.Network {
  { download in
    guard bytes.count <= download.maximumBytes(mimeType) else { throw HTTPFailure(.tooLarge) }
    try Data(bytes).write(to: download.destination)
    return HTTPFile(status: status, mimeType: mimeType, bytes: bytes.count)
  }
}
