import PabalModel
import PabalPrimitives
import Storage

/// Deliveries that came back and wait for their time.
extension ConformanceSuite {
  static let waiting: [ConformanceCheck] = [
    ConformanceCheck("a delivery that is put back waits unmarked until its time, and keeps what was tried") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      let put = try await storage.recordOutcomes([stage.postponement(of: delivery, until: 60)])
      try expectEqual(put.map(\.isRecorded), [true])
      try expectEqual(put.first?.subject?.frequencyClass, "transactional")
      try expectEqual(try await storage.openMarks().count, 0)
      let record = try unwrap(
        try await storage.deliveries(of: delivery.messageID, in: stage.appMode).first, "the record")
      try expectEqual(record.state, .retrying)
      try expectEqual(record.reason, .apns("ServiceUnavailable"))
      try expectEqual(record.attempts.map(\.number), [1])
      let early = try await storage.claimQueued(limit: 10, at: StorageStage.time(59))
      try expectEqual(early.deliveries.count, 0)
      try expectEqual(early.nextDue, StorageStage.time(60))
      let due = try await storage.claimQueued(limit: 10, at: StorageStage.time(60))
      let again = try unwrap(due.deliveries.first, "the delivery that is due")
      try expectEqual(again.apnsID, delivery.apnsID)
      try expectEqual(again.attempts, 1)
      try expectEqual(again.postponements, 1)
      try expectEqual(due.nextDue, nil)
      try expectEqual(try await storage.openMarks().map(\.key), [delivery.key])
      var second = stage.outcome(of: again, status: 200, at: 61)
      second.attempts = second.attempts.map { attempt in
        var attempt = attempt
        attempt.number = 2
        return attempt
      }
      try expectEqual(try await storage.recordOutcomes([second]).map(\.isRecorded), [true])
      let ended = try unwrap(try await storage.deliveries(of: delivery.messageID, in: stage.appMode).first, "the end")
      try expectEqual(ended.state, .accepted)
      try expectEqual(ended.attempts.map(\.number), [1, 2])
    },
    ConformanceCheck("what waits is looked at anew: wishes, devices and time decide, not what was true before") {
      storage in
      let stage = try await StorageStage(storage)
      let users = ["off", "gone", "late", "other", "stays"]
      var ids: [String: MessageID] = [:]
      for (number, user) in users.enumerated() {
        try await stage.register(user, token: StorageStage.token(UInt8(number + 1)))
        var acceptance = try await stage.acceptance(to: [user], lifetime: user == "late" ? 50 : 3_600)
        acceptance.category = "message"
        guard case .accepted(let outgoing) = try await storage.accept(acceptance) else {
          throw ConformanceFailure(description: "not accepted")
        }
        ids[user] = acceptance.identity.id
        _ = try await storage.recordOutcomes(outgoing.map { stage.postponement(of: $0, until: 60) })
      }
      for (user, values) in [("off", ["message": false]), ("other", ["review": false]), ("stays", ["message": true])] {
        _ = try await storage.setPreferences(
          PreferenceChange(
            appMode: stage.appMode, user: UserID(rawValue: user), values: values, at: StorageStage.time(2)))
      }
      _ = try await storage.unregister(
        DeviceUnregistration(
          appMode: stage.appMode, user: UserID(rawValue: "gone"), token: try StorageStage.token(2),
          at: StorageStage.time(2)))
      let claim = try await storage.claimQueued(limit: 10, at: StorageStage.time(60))
      try expectEqual(
        Set(claim.deliveries.map(\.messageID)),
        Set([try unwrap(ids["other"], "other"), try unwrap(ids["stays"], "stays")]))
      let ends = Set(claim.ended.map { "\($0.state.rawValue) \($0.reason.rawValue)" })
      try expectEqual(
        ends, ["suppressed preference_off", "suppressed device_unregistered", "expired ttl_elapsed"])
    },
    ConformanceCheck("those that ended hide nobody behind them: the claim says that more are due") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...3 {
        try await stage.register("u\(number)", token: StorageStage.token(number))
        _ = try await storage.accept(
          stage.acceptance(to: ["u\(number)"], start: .queued, lifetime: number < 3 ? 5 : 3_600))
      }
      let first = try await storage.claimQueued(limit: 2, at: StorageStage.time(10))
      try expectEqual(first.deliveries.count, 0)
      try expectEqual(first.ended.count, 2)
      try expect((first.nextDue ?? StorageStage.time(99)) <= StorageStage.time(10), "the third is due")
      try expectEqual(try await storage.claimQueued(limit: 2, at: StorageStage.time(10)).deliveries.count, 1)
    },
    ConformanceCheck("a delivery that is not marked cannot be put back, and an outcome without an end is none") {
      storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      let back = stage.postponement(of: delivery, until: 60)
      try expectEqual(try await storage.recordOutcomes([back, back]).map(\.isRecorded), [true, false])
      for (state, due) in [(DeliveryState.retrying, nil), (.accepted, StorageStage.time(9)), (.sending, nil)] {
        var wrong = back
        (wrong.state, wrong.retryAt) = (state, due)
        do {
          _ = try await storage.recordOutcomes([wrong])
          throw ConformanceFailure(description: "\(state) with \(String(describing: due)) was taken")
        } catch let error as StorageError {
          try expectEqual(error.kind, .invalidCall)
        }
      }
    },
    ConformanceCheck("a push for one attempt is never repeated after a crash") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      var acceptance = try await stage.acceptance(to: ["u"], collapseID: "c")
      acceptance.lifetime = .attemptOnce
      guard case .accepted(let outgoing) = try await storage.accept(acceptance) else {
        throw ConformanceFailure(description: "not accepted")
      }
      try expectEqual(outgoing.map(\.lifetime), [.attemptOnce])
      try expectEqual(try await storage.openMarks().map { $0.repeatable == nil }, [true])
      let record = try unwrap(try await storage.message(acceptance.identity.id, in: stage.appMode), "the message")
      try expectEqual(record.lifetime, .attemptOnce)
    },
    ConformanceCheck("devices are counted by platform and status") { storage in
      let stage = try await StorageStage(storage)
      try expectEqual(try await storage.deviceCounts(in: stage.appMode).count, 0)
      for number in UInt8(1)...3 { try await stage.register("u", token: StorageStage.token(number)) }
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      _ = try await storage.recordOutcomes([
        stage.outcome(of: delivery, status: 410, reason: "Unregistered", since: StorageStage.time(1))
      ])
      let counts = try await storage.deviceCounts(in: stage.appMode)
      try expectEqual(
        Set(counts),
        [
          DeviceCount(platform: .ios, status: .active, count: 2),
          DeviceCount(platform: .ios, status: .inactive, count: 1),
        ])
    },
  ]
}

extension StorageStage {
  /// Refused for now, to be tried again.
  func postponement(of delivery: OutgoingDelivery, until seconds: Int64) -> DeliveryOutcome {
    var outcome = outcome(of: delivery, status: 503, reason: "ServiceUnavailable")
    outcome.state = .retrying
    outcome.retryAt = Self.time(seconds)
    return outcome
  }
}
