import PabalModel
import PabalPrimitives
import Storage

/// What is kept how long.
extension ConformanceSuite {
  private static let day: Int64 = 86_400

  static let retention: [ConformanceCheck] = [
    ConformanceCheck("a message goes 30 days after its last outcome, not a millisecond earlier, and all of it") {
      storage in
      let stage = try await StorageStage(storage)
      let user = UserID(rawValue: "u")
      for number in UInt8(1)...2 { try await stage.register("u", token: StorageStage.token(number)) }
      let deliveries = try await stage.send(to: ["u", "nobody"])
      _ = try await storage.recordOutcomes([stage.outcome(of: deliveries[0], status: 200, at: 1)])
      _ = try await storage.recordOutcomes([stage.outcome(of: deliveries[1], status: nil, at: 600)])
      let event = stage.opened(deliveries[0])
      _ = try await storage.recordEvents([event])
      let end = StorageStage.time(600 + 30 * day)
      try expectEqual(try await stage.prune(at: end.advanced(by: .milliseconds(-1))).messages, 0)
      try expect(try await storage.message(deliveries[0].messageID, in: stage.appMode) != nil, "still there")
      try expectEqual(try await stage.prune(at: end).messages, 1)
      try expect(try await storage.message(deliveries[0].messageID, in: stage.appMode) == nil, "the message is gone")
      try expect(try await storage.trace(of: deliveries[0].id, in: stage.appMode) == nil, "its trace is gone")
      try expectEqual(try await storage.deliveries(to: user, in: stage.appMode, limit: 10).count, 0)
      try expectEqual(try await storage.messages(to: user, in: stage.appMode, limit: 10).count, 0)
      try expectEqual(try await storage.recordEvents([event]), [.unknownDelivery])
      let counts = try await storage.counts(in: stage.appMode)
      try expectEqual(counts.messages, 0)
      try expectEqual(counts.deliveries, [:])
      try expectEqual(counts.activeDevices, 2)
    },
    ConformanceCheck("what is under way is never removed") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let sending = try await stage.send(to: ["u"])
      let waiting = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      _ = try await storage.recordOutcomes([stage.postponement(of: waiting, until: 60)])
      _ = try await storage.accept(stage.acceptance(to: ["u"], start: .queued))
      try expectEqual(try await stage.prune(at: StorageStage.time(400 * day)).messages, 0)
      try expectEqual(try await storage.openMarks().map(\.key), sending.map(\.key))
      try expectEqual(try await storage.counts(in: stage.appMode).messages, 3)
    },
    ConformanceCheck("a claim lives as long as its window, and its message with it") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      var acceptance = try await stage.acceptance(to: ["u"], dedupe: "k")
      acceptance.dedupe?.window = .seconds(40 * day)
      guard case .accepted(let outgoing) = try await storage.accept(acceptance) else {
        throw ConformanceFailure(description: "not accepted")
      }
      _ = try await storage.recordOutcomes(outgoing.map { stage.outcome(of: $0, status: 200) })
      let early = try await stage.prune(at: StorageStage.time(35 * day))
      try expectEqual(early.messages + early.claims, 0)
      guard case .duplicate = try await storage.accept(stage.acceptance(to: ["u"], dedupe: "k", at: 35 * day)) else {
        throw ConformanceFailure(description: "the claim was lost")
      }
      let late = try await stage.prune(at: StorageStage.time(40 * day + 1))
      try expectEqual(late.messages, 1)
      try expectEqual(late.claims, 1)
      try expectEqual(try await stage.send(to: ["u"], dedupe: "k", at: 40 * day + 2).count, 1)
    },
    ConformanceCheck("an inactive device goes after 90 days with its token and install; one that came back stays") {
      storage in
      let stage = try await StorageStage(storage)
      let dead = try await stage.register("u", token: StorageStage.token(1), install: "dead", at: -400 * day)
      try await stage.register("u", token: StorageStage.token(2), install: "back", at: -400 * day)
      for delivery in try await stage.send(to: ["u"]) {
        let outcome = stage.outcome(of: delivery, status: 410, reason: "Unregistered", since: StorageStage.time(1))
        _ = try await storage.recordOutcomes([outcome])
      }
      try expectEqual(
        try await stage.devices(of: "u").map(\.inactiveSince), [StorageStage.time(1), StorageStage.time(1)])
      try await stage.register("u", token: StorageStage.token(2), install: "back", at: 50)
      let end = StorageStage.time(1 + 90 * day)
      try expectEqual(try await stage.prune(at: end.advanced(by: .milliseconds(-1))).devices, 0)
      try expectEqual(try await stage.prune(at: end).devices, 1)
      try expectEqual(try await stage.devices(of: "u").map(\.install?.rawValue), ["back"])
      try expect(try await storage.device(dead.device.id, in: stage.appMode) == nil, "its row is gone")
      let anew = try await stage.register("u", token: StorageStage.token(1), install: "dead", at: 91 * day)
      try expectEqual(anew.status, .created)
      try expect(anew.device.id != dead.device.id && anew.installSecret != nil, "a new device with a new secret")
    },
    ConformanceCheck("a pass goes in bites, takes what is old and leaves what is young, wherever it stands") {
      storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      for second in [0, 35 * day, 1, 2] {
        let sent = try await stage.send(to: ["u"], dedupe: "k\(second)", at: second)
        _ = try await storage.recordOutcomes(sent.map { stage.outcome(of: $0, status: 200, at: second) })
      }
      var place: PrunePlace? = .start
      var total = PruneStep(next: nil)
      var bites = 0
      while let start = place {
        let step = try await storage.prune(from: start, limit: 1, at: StorageStage.time(36 * day))
        try expect(step.messages <= 1 && step.claims <= 1 && step.devices <= 1, "a bite is small")
        total.messages += step.messages
        total.claims += step.claims
        place = step.next
        bites += 1
        try expect(bites < 200, "the pass ends")
      }
      try expectEqual(total.messages, 3)
      try expectEqual(total.claims, 4)
      try expect(bites > 7, "one row at a time")
      try expectEqual(try await storage.counts(in: stage.appMode).messages, 1)
    },
  ]
}

extension StorageStage {
  /// A whole pass.
  func prune(at now: WallTime, limit: Int = 10) async throws -> PruneStep {
    var total = PruneStep(next: .start)
    while let place = total.next {
      let step = try await storage.prune(from: place, limit: limit, at: now)
      total.messages += step.messages
      total.claims += step.claims
      total.devices += step.devices
      total.next = step.next
    }
    return total
  }
}
