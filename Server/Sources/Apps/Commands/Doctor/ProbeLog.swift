import APNs
import Cryptography
import EventLoop
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// When a key was last tried at an endpoint, over all processes of a user: answers such as BadDeviceToken make APNs
/// allow less, so a key is tried at most once a minute.
struct ProbeLog: Sendable {
  struct Entry: Sendable {
    let secondsAgo: Int64
    /// `400 BadDeviceToken`.
    let outcome: String
  }

  private static let interval: Int64 = 60
  private static let fileBytes = 256

  private let path: String
  private let clock: Clock

  /// `nil` where no folder for such files can be had; then nothing is remembered.
  init?(_ endpoint: Endpoint, _ credential: APNsCredential, topic: String, _ context: CommandContext) {
    guard let folder = SharedProviderToken.folder(context.environment) else { return nil }
    let subject = "\(endpoint)/\(credential.fingerprint)/\(topic)"
    do {
      path = "\(folder)/probe-\(Hex.encode(try SHA256.hash(Array(subject.utf8)).prefix(16)))"
    } catch {
      return nil
    }
    clock = context.clock
  }

  /// `nil` when the last time is a minute ago, or there was none.
  func recent() -> Entry? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.fileBytes)
    let count = pread(file, &bytes, bytes.count, 0)
    let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ", maxSplits: 1)
    guard words.count == 2, let then = Int64(words[0]) else { return nil }
    let seconds = clock.wall().seconds - then
    return (0..<Self.interval).contains(seconds) ? Entry(secondsAgo: seconds, outcome: String(words[1])) : nil
  }

  /// A failure only lets the next process try again sooner.
  func write(_ reply: APNsReply) {
    let text = "\(clock.wall().seconds) \(reply.status) \(reply.reason ?? "")"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(text.utf8)
    _ = pwrite(file, bytes, bytes.count, 0)
  }
}
