#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import PabalModel
import PabalPrimitives
import SQLiteStorage
import Storage
import TestSupport
import Testing

/// A folder for one store, removed at the end.
func withStoreFile(_ body: (_ path: String) async throws -> Void) async throws {
  try await withTemporaryFolder { folder in try await body(folder + "/pabal.sqlite") }
}

func fileBytes(_ path: String) -> [UInt8] {
  guard let file = fopen(path, "rb") else { return [] }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
  return bytes
}

enum Example {
  static let masterKey = [UInt8](0..<32)
  static let now = WallTime(milliseconds: 1_800_000_000_000)

  static func registration(
    _ user: String, token: DeviceToken, in appMode: AppMode, install: String? = nil
  ) -> DeviceRegistration {
    DeviceRegistration(
      appMode: appMode, user: UserID(rawValue: user), install: install.map(InstallID.init(rawValue:)), token: token,
      platform: .ios, topic: Topic(rawValue: "com.example.talent"), at: now)
  }

  static func acceptance(
    to user: String, in appMode: AppMode, of storage: any PushStorage, payload: [UInt8] = Array("{}".utf8),
    content: [UInt8] = Array("{}".utf8), collapseID: String? = nil, dedupe: String? = nil,
    start: MessageAcceptance.Start = .marked
  ) async throws -> MessageAcceptance {
    let snapshot = try await storage.snapshot(of: [UserID(rawValue: user)], in: appMode)
    let member = try #require(snapshot.users.first)
    let push = OutgoingPush(payload: payload, collapseID: collapseID)
    return MessageAcceptance(
      appMode: appMode, identity: storage.reserveMessage(at: now), type: "hello", typeVersion: 1, category: nil,
      frequencyClass: "transactional", source: "api", requestID: nil, content: content, createdAt: now, lifetime: nil,
      dedupe: dedupe.map { MessageAcceptance.Dedupe(key: $0, window: .seconds(60)) },
      decisions: [AcceptedDecision(user: member.id, steps: [])],
      deliveries: member.devices.map { AcceptedDelivery(user: member.id, device: $0.number, push: push) },
      seenChange: snapshot.change, start: start)
  }
}
