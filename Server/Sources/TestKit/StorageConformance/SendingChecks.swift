import PabalModel
import PabalPrimitives
import Storage

extension ConformanceSuite {
  static let sending: [ConformanceCheck] = [
    ConformanceCheck("accept writes everything and marks; reads tell the same story") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1), environment: .sandbox)
      let acceptance = try await stage.acceptance(to: ["u", "nobody"])
      guard case .accepted(let outgoing) = try await storage.accept(acceptance) else {
        throw ConformanceFailure(description: "not accepted")
      }
      let delivery = try unwrap(outgoing.first, "the delivery")
      try expectEqual(outgoing.count, 1)
      try expectEqual(delivery.id, storage.deliveryID(for: delivery.key))
      try expectEqual(delivery.environment, .sandbox)
      try expectEqual(delivery.push, acceptance.deliveries.first?.push)
      try expectEqual(try await storage.openMarks().map(\.key), [delivery.key])
      let message = try unwrap(try await storage.message(acceptance.identity.id, in: stage.appMode), "the message")
      try expectEqual(message.content, acceptance.content)
      try expectEqual(message.counts, [.sending: 1])
      try expectEqual(message.decisions.map(\.user.rawValue), ["u", "nobody"])
      try expectEqual(message.decisions.map(\.reason), [nil, .noDevices])
      let records = try await storage.deliveries(of: acceptance.identity.id, in: stage.appMode)
      try expectEqual(records.map(\.state), [.sending])
      try expectEqual(records.map(\.id), [delivery.id])
      let trace = try unwrap(try await storage.trace(of: delivery.id, in: stage.appMode), "the trace")
      try expectEqual(trace.steps.map(\.step), [.devices, .render])
      try expectEqual(trace.steps.first?.detail.encodedText, #"{"active":1}"#)
    },
    ConformanceCheck("a change between snapshot and accept makes it stale, another user's does not") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let before = try await stage.acceptance(to: ["u"])
      try await stage.register("other", token: StorageStage.token(9))
      guard case .accepted = try await storage.accept(before) else {
        throw ConformanceFailure(description: "another user's change made it stale")
      }
      let stale = try await stage.acceptance(to: ["u"])
      _ = try await storage.setPreferences(
        PreferenceChange(
          appMode: stage.appMode, user: UserID(rawValue: "u"), values: ["message": false], at: StorageStage.start))
      guard case .stale = try await storage.accept(stale) else {
        throw ConformanceFailure(description: "the user's change was not seen")
      }
      try expect(try await storage.message(stale.identity.id, in: stage.appMode) == nil, "nothing was written")
    },
    ConformanceCheck("of 50 parallel messages with one dedupe key one is accepted") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let results = try await withThrowingTaskGroup(of: (MessageID, AcceptanceResult).self) { group in
        for _ in 0..<50 {
          group.addTask {
            let acceptance = try await stage.acceptance(to: ["u"], dedupe: "talent_request:tr_1")
            return (acceptance.identity.id, try await storage.accept(acceptance))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let winners = results.compactMap { id, result in if case .accepted = result { id } else { nil } }
      try expectEqual(winners.count, 1)
      for case (_, .duplicate(let claims)) in results {
        try expectEqual(claims.map(\.heldBy), winners)
      }
      try expectEqual(try await storage.openMarks().count, 1)
    },
    ConformanceCheck("a dedupe claim is per user, ends with its window, and is not kept for a curable refusal") {
      storage in
      let stage = try await StorageStage(storage)
      try await stage.register("a", token: StorageStage.token(1))
      try expectEqual(try await stage.send(to: ["a"], dedupe: "k").count, 1)
      guard case .accepted = try await storage.accept(stage.acceptance(to: ["b"], dedupe: "k")) else {
        throw ConformanceFailure(description: "another user is no duplicate")
      }
      try await stage.register("b", token: StorageStage.token(2))
      try expectEqual(try await stage.send(to: ["b"], dedupe: "k").count, 1, "b had no device, so keeps no claim")
      guard case .duplicate = try await storage.accept(stage.acceptance(to: ["b"], dedupe: "k", at: 600)) else {
        throw ConformanceFailure(description: "the claim was lost")
      }
      try expectEqual(try await stage.send(to: ["b"], dedupe: "k", at: 601).count, 1, "the window is over")
    },
    ConformanceCheck("a final refusal keeps the claim") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let refused = try await stage.acceptance(to: ["u"], dedupe: "k", reason: .preferenceOff)
      guard case .accepted(let outgoing) = try await storage.accept(refused) else {
        throw ConformanceFailure(description: "not accepted")
      }
      try expectEqual(outgoing.count, 0)
      guard case .duplicate = try await storage.accept(stage.acceptance(to: ["u"], dedupe: "k")) else {
        throw ConformanceFailure(description: "the claim was not kept")
      }
    },
    ConformanceCheck("queued deliveries wait unmarked and are claimed once, by one of eight workers") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...20 { try await stage.register("u\(number)", token: StorageStage.token(number)) }
      let users = (1...20).map { "u\($0)" }
      guard case .accepted(let now) = try await storage.accept(stage.acceptance(to: users, start: .queued)) else {
        throw ConformanceFailure(description: "not accepted")
      }
      try expectEqual(now.count, 0)
      try expectEqual(try await storage.openMarks().count, 0)
      let claimed = try await withThrowingTaskGroup(of: [OutgoingDelivery].self) { group in
        for _ in 0..<8 {
          group.addTask {
            var own: [OutgoingDelivery] = []
            while true {
              let batch = try await storage.claimQueued(limit: 3, at: StorageStage.time(1)).deliveries
              if batch.isEmpty { return own }
              own += batch
            }
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      try expectEqual(claimed.count, 20)
      try expectEqual(Set(claimed.map(\.key)).count, 20)
      try expectEqual(Set(try await storage.openMarks().map(\.key)), Set(claimed.map(\.key)))
    },
    ConformanceCheck("a queued delivery whose device left, changed hands or whose time is over is not claimed") {
      storage in
      let stage = try await StorageStage(storage)
      for (number, user) in ["gone", "moved", "late", "stays"].enumerated() {
        try await stage.register(user, token: StorageStage.token(UInt8(number + 1)))
      }
      var ids: [String: MessageID] = [:]
      for user in ["gone", "moved", "late", "stays"] {
        let acceptance = try await stage.acceptance(to: [user], start: .queued, lifetime: user == "late" ? 5 : 3_600)
        ids[user] = acceptance.identity.id
        _ = try await storage.accept(acceptance)
      }
      _ = try await storage.unregister(
        DeviceUnregistration(
          appMode: stage.appMode, user: UserID(rawValue: "gone"), token: try StorageStage.token(1),
          at: StorageStage.start))
      try await stage.register("thief", token: StorageStage.token(2))
      let claim = try await storage.claimQueued(limit: 10, at: StorageStage.time(10))
      try expectEqual(claim.ended.count, 3)
      try expectEqual(claim.deliveries.map(\.messageID), [try unwrap(ids["stays"], "stays")])
      var ends: [String] = []
      for user in ["gone", "moved", "late"] {
        let id = try unwrap(ids[user], user)
        let record = try unwrap(try await storage.deliveries(of: id, in: stage.appMode).first, user)
        ends.append("\(record.state.rawValue) \(record.reason?.rawValue ?? "")")
      }
      try expectEqual(
        ends, ["suppressed device_unregistered", "suppressed device_reassigned", "expired ttl_elapsed"])
    },
    ConformanceCheck("contradictory acceptances are refused whole") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      var twice = try await stage.acceptance(to: ["u"])
      twice.decisions += twice.decisions
      do {
        _ = try await storage.accept(twice)
        throw ConformanceFailure(description: "two decisions for one user were taken")
      } catch let error as StorageError {
        try expectEqual(error.kind, .invalidCall)
      }
      try expect(try await storage.message(twice.identity.id, in: stage.appMode) == nil, "nothing was written")
    },
  ]
}
