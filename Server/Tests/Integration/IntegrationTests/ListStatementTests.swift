import HTTPServer
import PabalModel
import PabalPrimitives
import SQLiteStorage
import ServerAPI
import Storage
import StorageConformance
import TestSupport
import Testing

/// What the lists of the API cost the store, from the route down to its statements.
@Suite struct ListStatementTests {
  private static let secret = "pb_test_0123456789"

  /// Statements of the first and the second page of each list, `size` members a page.
  private static func statements(size: Int) async throws -> [String: [Int]] {
    try await withTemporaryFolder { folder in
      let counted = Locked(0)
      let storage = try await SQLitePushStorage.open(
        path: folder + "/pabal.sqlite", masterKey: [UInt8](0..<32), onRead: { counted.withLock { $0 += 1 } })
      let stage = try await StorageStage(storage)
      for number in 1...UInt8(2 * size) { try await stage.register("u", token: StorageStage.token(number)) }
      var message = MessageID(rawValue: "")
      for second in 0..<Int64(2 * size) {
        let sent = try await stage.send(to: ["u", "nobody"], at: second)
        _ = try await storage.recordOutcomes(sent.map { stage.outcome(of: $0, status: 200, at: second) })
        _ = try await storage.recordEvents(sent.map { stage.opened($0, at: second) })
        message = try #require(sent.first).messageID
      }
      let configuration = PushAPIConfiguration(
        appName: "demo", appMode: stage.appMode, keys: APIKeys(secret: secret, publishable: "pp_test_0123456789"),
        defaultTopic: Topic(rawValue: "com.example.demo"), version: "0")
      let router = PushAPI(
        configuration: configuration, storage: storage, dispatcher: PushDispatcher { _, _, _ in }
      ).router()
      var found: [String: [Int]] = [:]
      for list in [
        "/v1/messages?userId=u&", "/v1/deliveries?userId=u&", "/v1/deliveries?messageId=ID&",
        "/v1/deliveries?messageId=ID&userId=u&", "/v1/messages/ID/deliveries?", "/v1/devices?userId=u&",
      ] {
        var cursor = ""
        for page in 0..<2 {
          counted.withLock { $0 = 0 }
          let target = list.split(separator: "ID").joined(separator: message.rawValue) + "limit=\(size)" + cursor
          let response = await router.respond(
            to: try HTTPRequest(.get, target, headers: [HTTPField("Authorization", "Bearer \(secret)")]))
          let body = try JSONSlice(parsing: response.bytes ?? [])
          found[list, default: []].append(counted.withLock { $0 })
          #expect(body["data"]?.elements.count == size, "\(list) page \(page)")
          cursor = body["nextCursor"]?.string.map { "&cursor=\($0)" } ?? ""
        }
      }
      await storage.close()
      return found
    }
  }

  @Test("a page of a list takes the same statements, whether it has one member or ten") func fixed() async throws {
    let short = try await Self.statements(size: 1)
    #expect(short.count == 6)
    #expect(short.values.allSatisfy { $0.allSatisfy { $0 > 0 } })
    #expect(try await Self.statements(size: 10) == short)
  }
}
