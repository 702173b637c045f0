import PabalModel
import PabalPrimitives
import Storage

extension ConformanceSuite {
  static let outcomes: [ConformanceCheck] = [
    ConformanceCheck("an outcome ends the delivery once, closes its mark and stands in the trace") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      let first = try await storage.recordOutcomes([stage.outcome(of: delivery, status: 200)])
      let subject = DeliverySubject(frequencyClass: "transactional", platform: .ios, since: StorageStage.start)
      try expectEqual(
        first,
        [
          OutcomeResult(
            key: delivery.key, isRecorded: true, hygiene: .environmentLearned(.production), subject: subject)
        ])
      let second = try await storage.recordOutcomes([stage.outcome(of: delivery, status: 500, reason: "Late")])
      try expectEqual(second.map(\.isRecorded), [false], "the first outcome stands")
      try expectEqual(try await storage.openMarks().count, 0)
      let trace = try unwrap(try await storage.trace(of: delivery.id, in: stage.appMode), "the trace")
      try expectEqual(trace.delivery.state, .accepted)
      try expectEqual(trace.delivery.attempts.map(\.apnsID), [delivery.apnsID])
      try expectEqual(trace.steps.map(\.step), [.devices, .render, .attempt, .outcome, .outcome])
      let device = try unwrap(try await stage.devices(of: "u").first, "the device")
      try expect(device.environmentIsLearned && device.environment == .production, "learned by the 200")
    },
    ConformanceCheck("OC-20: the time of a 410 is weighed against the registration, in three runs") { storage in
      let stage = try await StorageStage(storage)
      // 410 says: dead since 1,799,568,000,000 ms; registered an hour later, an hour earlier, and without a time.
      let deadSince = WallTime(milliseconds: 1_799_568_000_000)
      func run(
        _ name: String, number: UInt8, registered: WallTime, since: WallTime?
      ) async throws -> (TokenHygiene, DeviceRecord.Status) {
        let seconds = StorageStage.start.duration(to: registered).milliseconds / 1_000
        try await stage.register(name, token: StorageStage.token(number), at: seconds)
        let delivery = try unwrap(try await stage.send(to: [name], at: seconds + 1).first, "the delivery")
        let outcome = stage.outcome(
          of: delivery, status: 410, reason: "Unregistered", since: since, at: max(seconds, 0) + 2)
        let result = try unwrap(try await storage.recordOutcomes([outcome]).first, "the result")
        let device = try unwrap(try await stage.devices(of: name).first, "the device")
        return (result.hygiene, device.status)
      }
      let later = try await run("1", number: 1, registered: deadSince.advanced(by: .seconds(3_600)), since: deadSince)
      try expect(later == (.keptReregistered, .active), "run 1: the token stays")
      let earlier = try await run(
        "2", number: 2, registered: deadSince.advanced(by: .seconds(-3_600)), since: deadSince)
      try expect(earlier == (.deactivated(.apns("Unregistered")), .inactive), "run 2: deactivated")
      let untimed = try await run("3", number: 3, registered: StorageStage.start, since: nil)
      try expect(untimed == (.deactivated(.apns("Unregistered")), .inactive), "run 3: the attempt's start counts")
      // Sent at 20 s, registered anew at 25 s, and only then the answer without a time comes.
      try await stage.register("4", token: StorageStage.token(4))
      let under = try unwrap(try await stage.send(to: ["4"], at: 19).first, "the delivery")
      try await stage.register("4", token: StorageStage.token(4), at: 25)
      let late = stage.outcome(of: under, status: 410, reason: "Unregistered", at: 20)
      try expectEqual(try await storage.recordOutcomes([late]).map(\.hygiene), [.keptReregistered], "run 3, late")
      let again = try await stage.register("2", token: StorageStage.token(2), at: 9)
      try expectEqual(again.device.status, .active, "until the device registers with a later time")
    },
    ConformanceCheck("a 410 without a time does not kill a token that was registered after the attempt began") {
      storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      try await stage.register("u", token: StorageStage.token(1), at: 5)
      let outcome = stage.outcome(of: delivery, status: 410, reason: "Unregistered", at: 3)
      try expectEqual(try await storage.recordOutcomes([outcome]).map(\.hygiene), [.keptReregistered])
    },
    ConformanceCheck("BadDeviceToken deactivates only where a 200 has shown the environment") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1), environment: .production)
      func hygiene(_ status: Int, _ reason: String?, _ environment: PushEnvironment) async throws -> TokenHygiene? {
        let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
        let outcome = stage.outcome(of: delivery, status: status, reason: reason, environment: environment)
        let results = try await storage.recordOutcomes([outcome])
        return results.first?.hygiene
      }
      try expectEqual(try await hygiene(400, "BadDeviceToken", .production), .keptEnvironmentUnknown)
      try expectEqual(try await hygiene(200, nil, .sandbox), .environmentLearned(.sandbox))
      try expectEqual(try await hygiene(400, "BadDeviceToken", .production), .keptEnvironmentUnknown)
      try expectEqual(try await hygiene(400, "BadDeviceToken", .sandbox), .deactivated(.apns("BadDeviceToken")))
      try expectEqual(try await stage.send(to: ["u"]).count, 0)
    },
    ConformanceCheck("an outcome for a token that was replaced meanwhile leaves the new one alone") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1), install: "i")
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      try await stage.register("u", token: StorageStage.token(2), install: "i")
      let outcome = stage.outcome(
        of: delivery, status: 410, reason: "Unregistered", since: StorageStage.time(100), at: 101)
      try expectEqual(try await storage.recordOutcomes([outcome]).map(\.hygiene), [.keptTokenReplaced])
      try expectEqual(try await stage.devices(of: "u").map(\.status), [.active])
    },
    ConformanceCheck("an outcome after the device left is recorded without hygiene") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      _ = try await storage.unregister(
        DeviceUnregistration(
          appMode: stage.appMode, user: UserID(rawValue: "u"), token: delivery.token, at: StorageStage.time(1)))
      let result = try await storage.recordOutcomes([stage.outcome(of: delivery, status: 200)])
      try expectEqual(result.map(\.isRecorded), [true])
      try expectEqual(result.map(\.hygiene), [.none])
      try expectEqual(result.map(\.subject?.platform), [nil], "nobody knows any more")
      let records = try await storage.deliveries(to: UserID(rawValue: "u"), in: stage.appMode, limit: 10)
      try expectEqual(records.map(\.state), [.accepted])
    },
    ConformanceCheck("a mark stays until its last outcome; a repeat is offered only with a collapse id") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...3 { try await stage.register("u", token: StorageStage.token(number)) }
      let deliveries = try await stage.send(to: ["u"], collapseID: "c")
      try expectEqual(deliveries.count, 3)
      _ = try await storage.recordOutcomes([stage.outcome(of: deliveries[0], status: 200)])
      let open = try await storage.openMarks()
      try expectEqual(Set(open.map(\.key)), Set(deliveries.dropFirst().map(\.key)))
      try expect(open.allSatisfy { $0.repeatable?.push.collapseID == "c" }, "each may be repeated")
      _ = try await storage.recordOutcomes(deliveries.dropFirst().map { stage.outcome(of: $0, status: nil) })
      try expectEqual(try await storage.openMarks().count, 0)
      let plain = try await stage.send(to: ["u"])
      try expect(try await storage.openMarks().allSatisfy { $0.repeatable == nil }, "a plain push is not repeated")
      try expectEqual(try await storage.openMarks().count, plain.count)
    },
    ConformanceCheck("a delivery that ends untried for a curable reason gives its claim back") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"], dedupe: "k").first, "the delivery")
      let untried = DeliveryOutcome(
        key: delivery.key, state: .canceled, reason: .credentialMissing, at: StorageStage.time(1),
        token: delivery.token, attempts: [])
      _ = try await storage.recordOutcomes([untried])
      try expectEqual(try await stage.send(to: ["u"], dedupe: "k").count, 1)
    },
    ConformanceCheck("eight workers report 800 outcomes, each twice: each is recorded once") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...10 { try await stage.register("u\(number)", token: StorageStage.token(number)) }
      var deliveries: [OutgoingDelivery] = []
      for _ in 0..<80 { deliveries += try await stage.send(to: (1...10).map { "u\($0)" }) }
      let sent = deliveries
      let recorded = try await withThrowingTaskGroup(of: Int.self) { group in
        for worker in 0..<8 {
          group.addTask {
            let part = sent.indices.filter { $0 % 4 == worker % 4 }.map { stage.outcome(of: sent[$0], status: 200) }
            return try await storage.recordOutcomes(part).count { $0.isRecorded }
          }
        }
        return try await group.reduce(0, +)
      }
      try expectEqual(recorded, 800)
      try expectEqual(try await storage.counts(in: stage.appMode).deliveries, [.accepted: 800])
      try expectEqual(try await storage.openMarks().count, 0)
    },
  ]
}
