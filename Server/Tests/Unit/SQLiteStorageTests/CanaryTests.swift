#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import PabalModel
import PabalPrimitives
import SQLiteStorage
import Storage
import Testing

/// Plants secrets through every way in and looks for them in the files, while the server runs and after it.
@Suite struct CanaryTests {
  static let title = "canary-title-새로운재능"
  static let content = "canary-content-비밀내용"
  static let reply = "canary-reply-네좋아요"
  static let collapseID = "canary-collapse"
  static let dedupeKey = "canary-dedupe"
  static let eventID = "canary-event"

  @Test func `no token, text, secret or caller's key stands in the files in any spelling`() async throws {
    try await withStoreFile { path in
      let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      let appMode = try await storage.openApp(named: "demo", mode: .test)
      let token = try #require(DeviceToken(bytes: Randomness.seeded(5).fill(32)))
      let registered = try await storage.register(
        Example.registration("plain-user-id", token: token, in: appMode, install: "plain-install-id"))
      let acceptance = try await Example.acceptance(
        to: "plain-user-id", in: appMode, of: storage, payload: Array(#"{"aps":{"alert":"\#(Self.title)"}}"#.utf8),
        content: Array(#"{"title":"\#(Self.content)"}"#.utf8), collapseID: Self.collapseID, dedupe: Self.dedupeKey)
      guard case .accepted(let outgoing) = try await storage.accept(acceptance), let delivery = outgoing.first else {
        Issue.record("not accepted")
        return
      }
      _ = try await storage.recordEvents([
        DeviceEvent(
          appMode: appMode, delivery: delivery.id, message: delivery.messageID, kind: .action, at: Example.now,
          action: "REPLY", text: Self.reply, eventID: Self.eventID, receivedAt: Example.now)
      ])
      let secrets: [[UInt8]] =
        [token.bytes, Example.masterKey]
        + [
          Self.title, Self.content, Self.reply, Self.collapseID, Self.dedupeKey, Self.eventID,
          registered.installSecret ?? "missing",
        ].map { Array($0.utf8) }
      let running = fileBytes(path) + fileBytes(path + "-wal")
      #expect(CanarySearch.found(secrets, in: running) == [])
      // The search itself can find: what is plain by design is there.
      #expect(CanarySearch.found([Array("plain-user-id".utf8)], in: running) != [])

      _ = try await storage.recordOutcomes([
        DeliveryOutcome(
          key: delivery.key, state: .accepted, reason: nil, at: Example.now, token: token, attempts: [])
      ])
      await storage.close()
      #expect(CanarySearch.found(secrets, in: fileBytes(path) + fileBytes(path + "-wal")) == [])
    }
  }
}

/// Looks for byte strings in every spelling that a careless writer would use.
enum CanarySearch {
  static func spellings(_ secret: [UInt8]) -> [[UInt8]] {
    let text = String(decoding: secret, as: UTF8.self)
    let utf16 = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let utf16Big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    // Base64 of a longer text holds one of three alignments of ours; the ends mix with the neighbours.
    let base64 = (0..<3).map { shift -> [UInt8] in
      let shifted = [UInt8](repeating: 0, count: shift) + secret
      return Array(Base64.encode(shifted).utf8.dropFirst(4).prefix { $0 != UInt8(ascii: "=") }.dropLast(3))
    }
    let hex = Hex.encode(secret)
    return [secret, Array(hex.utf8), Array(hex.uppercased().utf8), utf16, utf16Big] + base64
  }

  /// Indices of the secrets that stand in `bytes`.
  static func found(_ secrets: [[UInt8]], in bytes: [UInt8]) -> [Int] {
    secrets.indices.filter { index in spellings(secrets[index]).contains { contains(bytes, $0) } }
  }

  private static func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
    guard let first = wanted.first, wanted.count >= 6, bytes.count >= wanted.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      let last = bytes.count - wanted.count
      var start = 0
      while start <= last, let hit = memchr(base + start, Int32(first), last - start + 1) {
        if memcmp(hit, wanted, wanted.count) == 0 { return true }
        start = UnsafeRawPointer(hit) - base + 1
      }
      return false
    }
  }
}
