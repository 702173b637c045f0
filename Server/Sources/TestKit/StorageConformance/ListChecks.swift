import PabalModel
import PabalPrimitives
import Storage

/// Pages of lists.
extension ConformanceSuite {
  static let lists: [ConformanceCheck] = [
    ConformanceCheck("pages of a user's messages go on where the last one ended, whatever is added meanwhile") {
      storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      var sent: [MessageID] = []
      for number in 0..<7 { sent += try await stage.send(to: ["u"], at: Int64(number)).map(\.messageID) }
      var seen: [MessageID] = []
      var page = ListPage<MessageID>(limit: 3)
      while true {
        let part = try await storage.messages(to: UserID(rawValue: "u"), in: stage.appMode, page: page)
        seen += part.map(\.identity.id)
        _ = try await stage.send(to: ["u"], at: 100)
        guard let last = part.last else { break }
        page.after = last.identity.id
      }
      try expectEqual(seen, Array(sent.reversed()))
    },
    ConformanceCheck("a list says of each message what the message says of itself, in numbers") { storage in
      let stage = try await StorageStage(storage)
      let user = UserID(rawValue: "u")
      for number in UInt8(1)...3 { try await stage.register("u", token: StorageStage.token(number)) }
      try await stage.register("v", token: StorageStage.token(4))
      let sent = try await stage.send(to: ["u", "nobody", "v", "none"], at: 1)
      _ = try await storage.recordOutcomes(sent.prefix(2).map { stage.outcome(of: $0, status: 200) })
      var other = try await stage.acceptance(to: ["u", "v"], at: 2, reason: .preferenceOff)
      other.category = "chat"
      other.source = "guide"
      other.requestID = nil
      other.lifetime = nil
      _ = try await storage.accept(other)
      _ = try await stage.send(to: ["v"], at: 3)
      let list = try await storage.messages(to: user, in: stage.appMode, limit: 10)
      try expectEqual(list.map(\.identity.id), [other.identity.id, try unwrap(sent.first, "a delivery").messageID])
      for shown in list {
        let message = try unwrap(try await storage.message(shown.identity.id, in: stage.appMode), "the message")
        try expectEqual(shown, message.summary)
      }
      try expectEqual(list.map(\.decisions), [[.preferenceOff: 2], [nil: 2, .noDevices: 2]])
      try expectEqual(list.map(\.counts), [[:], [.accepted: 2, .sending: 2]])
      try expectEqual(list.map(\.isComplete), [true, false])
    },
    ConformanceCheck("the newest message of a type is found among a user's newest") { storage in
      let stage = try await StorageStage(storage)
      let user = UserID(rawValue: "u")
      try await stage.register("u", token: StorageStage.token(1))
      var ids: [MessageID] = []
      for type in ["hello", "review", "hello", "review", "content"] {
        var acceptance = try await stage.acceptance(to: ["u"])
        acceptance.type = type
        _ = try await storage.accept(acceptance)
        ids.append(acceptance.identity.id)
      }
      func newest(_ type: String, among: Int) async throws -> MessageID? {
        let found = try await storage.newestMessage(of: type, to: user, among: among, in: stage.appMode)
        return found?.id
      }
      try expectEqual(try await newest("review", among: 50), ids[3])
      try expectEqual(try await newest("hello", among: 3), ids[2])
      let (beyond, none) = (try await newest("hello", among: 2), try await newest("none", among: 50))
      try expect(beyond == nil && none == nil, "none among those")
      let stranger = try await storage.newestMessage(
        of: "hello", to: UserID(rawValue: "v"), among: 50, in: stage.appMode)
      try expect(stranger == nil, "nobody else's")
    },
    ConformanceCheck("pages of deliveries, of a message and of a user, show each once and in order") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...5 { try await stage.register(number < 4 ? "u" : "v", token: StorageStage.token(number)) }
      let first = try await stage.send(to: ["v", "u"])
      let second = try await stage.send(to: ["u"], at: 1)
      let message = try unwrap(first.first?.messageID, "a message")
      let order = try await storage.deliveries(of: message, in: stage.appMode).map(\.id)
      try expectEqual(order, first.map(\.id))
      func pages(
        _ list: (ListPage<DeliveryID>) async throws -> [DeliveryRecord]
      ) async throws -> [DeliveryID] {
        var seen: [DeliveryID] = []
        var page = ListPage<DeliveryID>(limit: 2)
        while true {
          let part = try await list(page)
          try expect(part.count <= 2, "no more than asked for")
          seen += part.map(\.id)
          guard let last = part.last else { return seen }
          page.after = last.id
        }
      }
      let user = UserID(rawValue: "u")
      try expectEqual(
        try await pages { try await storage.deliveries(of: message, to: nil, in: stage.appMode, page: $0) }, order)
      try expectEqual(
        try await pages { try await storage.deliveries(of: message, to: user, in: stage.appMode, page: $0) },
        Array(order.suffix(3)))
      let all = try await storage.deliveries(to: user, in: stage.appMode, limit: 100).map(\.id)
      try expectEqual(Set(all.prefix(3)), Set(second.map(\.id)), "the newest message first")
      try expectEqual(try await pages { try await storage.deliveries(to: user, in: stage.appMode, page: $0) }, all)
      let stranger = try unwrap(second.first?.id, "a delivery")
      let nowhere = try await storage.deliveries(
        of: message, to: nil, in: stage.appMode, page: ListPage(after: stranger, limit: 10))
      try expectEqual(nowhere.count, 0, "another message's delivery is no place in this list")
      let none = try await storage.messages(
        to: user, in: stage.appMode, page: ListPage(after: MessageID(rawValue: "msg_none"), limit: 10))
      try expectEqual(none.count, 0)
    },
  ]
}
