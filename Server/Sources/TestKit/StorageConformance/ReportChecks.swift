import PabalModel
import PabalPrimitives
import Storage

extension ConformanceSuite {
  private static func event(
    _ kind: EventKind, of delivery: OutgoingDelivery, in appMode: AppMode, id: String = "e1", at seconds: Int64 = 2,
    action: String? = nil, text: String? = nil
  ) -> DeviceEvent {
    DeviceEvent(
      appMode: appMode, delivery: delivery.id, message: delivery.messageID, kind: kind, at: StorageStage.time(seconds),
      action: action, text: text, eventID: id, receivedAt: StorageStage.time(30))
  }

  static let reports: [ConformanceCheck] = [
    ConformanceCheck("a report is taken once per id and kind, and only for a delivery of its app and message") {
      storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      let live = try await storage.openApp(named: "demo", mode: .live)
      var otherMessage = event(.opened, of: delivery, in: stage.appMode, id: "e2")
      otherMessage.message = MessageID(rawValue: "msg_other")
      var nonsense = event(.opened, of: delivery, in: stage.appMode, id: "e3")
      nonsense.delivery = DeliveryID(rawValue: "dlv_nonsense")
      let results = try await storage.recordEvents([
        event(.received, of: delivery, in: stage.appMode), event(.received, of: delivery, in: stage.appMode),
        event(.opened, of: delivery, in: stage.appMode), otherMessage, event(.opened, of: delivery, in: live), nonsense,
      ])
      let opening = FirstOpening(
        frequencyClass: "transactional", acceptedAt: StorageStage.start, openedAt: StorageStage.time(2))
      try expectEqual(
        results, [.accepted, .duplicate, .opened(opening), .unknownDelivery, .unknownDelivery, .unknownDelivery])
    },
    ConformanceCheck("the first opening says how long it took, later ones say nothing more") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...2 { try await stage.register("u", token: StorageStage.token(number)) }
      let deliveries = try await stage.send(to: ["u"])
      let results = try await storage.recordEvents([
        stage.opened(deliveries[0], id: "a", at: 90), stage.opened(deliveries[0], id: "b", at: 91),
        stage.opened(deliveries[1], id: "a", at: -200),
      ])
      let delays = results.map { result -> Int64 in
        guard case .opened(let first) = result else { return -1 }
        return first.delay.milliseconds
      }
      try expectEqual(delays, [90_000, -1, 0], "a clock that is behind makes no time negative")
    },
    ConformanceCheck("reports stand in the trace, their times clamped, their words kept") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      _ = try await storage.recordOutcomes([stage.outcome(of: delivery, status: 200)])
      _ = try await storage.recordEvents([
        event(.received, of: delivery, in: stage.appMode, at: -4_000),
        event(.action, of: delivery, in: stage.appMode, at: 9_999, action: "REPLY_MESSAGE", text: "네, 좋아요"),
      ])
      let trace = try unwrap(try await storage.trace(of: delivery.id, in: stage.appMode), "the trace")
      try expectEqual(trace.delivery.events.map(\.at), [StorageStage.time(-300), StorageStage.time(30)])
      try expectEqual(trace.delivery.events.map(\.text), [nil, "네, 좋아요"])
      try expectEqual(trace.steps.suffix(2).map(\.result.rawValue), ["received", "action"])
      let user = UserID(rawValue: "u")
      let explained = try await storage.explanation(of: delivery.messageID, for: user, in: stage.appMode)
      try expectEqual(explained?.traces.count, 1)
      let listed = try await storage.messages(to: user, in: stage.appMode, limit: 5)
      try expectEqual(listed.map(\.identity.id), [delivery.messageID])
    },
    ConformanceCheck("a received or opened report revives a deactivated device, a dismissed one does not") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1))
      let delivery = try unwrap(try await stage.send(to: ["u"]).first, "the delivery")
      let dead = stage.outcome(of: delivery, status: 410, reason: "Unregistered", since: StorageStage.time(1))
      _ = try await storage.recordOutcomes([dead])
      _ = try await storage.recordEvents([event(.dismissed, of: delivery, in: stage.appMode)])
      try expectEqual(try await stage.devices(of: "u").map(\.status), [.inactive])
      _ = try await storage.recordEvents([event(.opened, of: delivery, in: stage.appMode)])
      let device = try unwrap(try await stage.devices(of: "u").first, "the device")
      try expect(device.status == .active && device.inactiveReason == nil, "alive again")
    },
    ConformanceCheck("counts add up") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...3 { try await stage.register("u\(number)", token: StorageStage.token(number)) }
      let deliveries = try await stage.send(to: ["u1", "u2", "u3"])
      _ = try await storage.recordOutcomes([
        stage.outcome(of: deliveries[0], status: 200),
        stage.outcome(of: deliveries[1], status: 410, reason: "Unregistered", since: StorageStage.time(5), at: 6),
      ])
      try expectEqual(
        try await storage.counts(in: stage.appMode),
        StorageCounts(
          users: 3, activeDevices: 2, inactiveDevices: 1, messages: 1,
          deliveries: [.accepted: 1, .rejected: 1, .sending: 1]))
    },
  ]
}
