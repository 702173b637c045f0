package import PabalModel
package import PabalPrimitives
package import Storage

/// One sentence of the storage port, as a program that any conformer must get through.
package struct ConformanceCheck: Sendable, CustomStringConvertible {
  package let description: String
  package let run: @Sendable (any PushStorage) async throws -> Void

  init(_ description: String, _ run: @escaping @Sendable (any PushStorage) async throws -> Void) {
    self.description = description
    self.run = run
  }
}

/// What a conformer did that the port does not say.
package struct ConformanceFailure: Error, CustomStringConvertible {
  package let description: String
}

func expect(
  _ condition: Bool, _ sentence: @autoclosure () -> String, file: String = #fileID, line: Int = #line
) throws {
  guard condition else { throw ConformanceFailure(description: "\(file):\(line): \(sentence())") }
}

func expectEqual<Value: Equatable>(
  _ found: Value, _ wanted: Value, _ sentence: String = "", file: String = #fileID, line: Int = #line
) throws {
  try expect(found == wanted, "\(sentence) found \(found), wanted \(wanted)", file: file, line: line)
}

func unwrap<Value>(_ value: Value?, _ sentence: String, file: String = #fileID, line: Int = #line) throws -> Value {
  guard let value else { throw ConformanceFailure(description: "\(file):\(line): \(sentence) is missing") }
  return value
}

/// All sentences.
package enum ConformanceSuite {
  package static let checks = registry + sending + waiting + outcomes + reports + lists + retention
}

/// Short words for the checks: a store with the app `demo`, and records with everything that a check does not care
/// about filled in.
package struct StorageStage: Sendable {
  package let storage: any PushStorage
  package let appMode: AppMode
  package static let start = WallTime(milliseconds: 1_800_000_000_000)

  package init(_ storage: any PushStorage, mode: PushMode = .test) async throws {
    self.storage = storage
    appMode = try await storage.openApp(named: "demo", mode: mode)
  }

  package static func time(_ seconds: Int64) -> WallTime { start.advanced(by: .seconds(seconds)) }

  package static func token(_ number: UInt8, count: Int = 32) throws -> DeviceToken {
    try unwrap(DeviceToken(bytes: [UInt8](repeating: number, count: count)), "a token of \(count) bytes")
  }

  @discardableResult
  package func register(
    _ user: String?, token: DeviceToken?, install: String? = nil, epoch: Int64 = 0, secret: String? = nil,
    environment: PushEnvironment? = nil, attributes: DeviceAttributes = DeviceAttributes(), at seconds: Int64 = 0
  ) async throws -> RegistrationResult {
    try await storage.register(
      DeviceRegistration(
        appMode: appMode, user: user.map(UserID.init(rawValue:)), install: install.map(InstallID.init(rawValue:)),
        epoch: epoch, token: token, platform: .ios, topic: Topic(rawValue: "com.example.talent"),
        environment: environment, attributes: attributes, installSecret: secret, at: Self.time(seconds)))
  }

  package func devices(of user: String) async throws -> [DeviceRecord] {
    try await storage.devices(of: UserID(rawValue: user), in: appMode)
  }

  /// A message to `users` that goes to all their active devices.
  package func acceptance(
    to users: [String], dedupe: String? = nil, start: MessageAcceptance.Start = .marked, collapseID: String? = nil,
    at seconds: Int64 = 0, lifetime: Int64 = 3_600, reason: ReasonCode? = nil
  ) async throws -> MessageAcceptance {
    let now = Self.time(seconds)
    let snapshot = try await storage.snapshot(of: users.map(UserID.init(rawValue:)), in: appMode)
    let identity = storage.reserveMessage(at: now)
    let push = OutgoingPush(payload: Array(#"{"aps":{"alert":"안녕"}}"#.utf8), collapseID: collapseID)
    let step = TraceStep(at: now, step: .devices, result: .ok, detail: ["active": 1])
    let decisions = snapshot.users.map { member in
      let missing: ReasonCode? = member.devices.contains { $0.status == .active } ? nil : .noDevices
      return AcceptedDecision(user: member.id, reason: reason ?? missing, steps: [step])
    }
    let deliveries = snapshot.users.flatMap { member in
      member.devices.filter { $0.status == .active && reason == nil }.map { device in
        AcceptedDelivery(
          user: member.id, device: device.number, push: push,
          steps: [TraceStep(at: now, step: .render, result: .ok, detail: ["bytes": 25])])
      }
    }
    return MessageAcceptance(
      appMode: appMode, identity: identity, type: "hello", typeVersion: 1, category: nil,
      frequencyClass: "transactional", source: "api", requestID: "req_1", content: Array(#"{"a":1}"#.utf8),
      createdAt: now, lifetime: PushLifetime(.seconds(lifetime), from: now),
      dedupe: dedupe.map { MessageAcceptance.Dedupe(key: $0, window: .seconds(600)) }, decisions: decisions,
      deliveries: deliveries, seenChange: snapshot.change, start: start)
  }

  /// Accepts and returns what is to be sent.
  package func send(
    to users: [String], dedupe: String? = nil, collapseID: String? = nil, at seconds: Int64 = 0
  ) async throws -> [OutgoingDelivery] {
    let acceptance = try await acceptance(to: users, dedupe: dedupe, collapseID: collapseID, at: seconds)
    guard case .accepted(let outgoing) = try await storage.accept(acceptance) else {
      throw ConformanceFailure(description: "the message was not accepted")
    }
    return outgoing
  }

  /// An outcome of one attempt.
  package func outcome(
    of delivery: OutgoingDelivery, status: Int?, reason: String? = nil, since: WallTime? = nil,
    environment: PushEnvironment = .production, at seconds: Int64 = 1
  ) -> DeliveryOutcome {
    let state: DeliveryState = status == nil ? .unknown : status == 200 ? .accepted : .rejected
    let attempt = AttemptRecord(
      number: 1, startedAt: Self.time(seconds), duration: .milliseconds(38), environment: environment,
      status: status, reason: reason, tokenDeadSince: since, apnsID: delivery.apnsID, apnsUniqueID: nil,
      connection: "c1")
    return DeliveryOutcome(
      key: delivery.key, state: state, reason: status == nil ? .replyLost : reason.map(ReasonCode.apns),
      at: Self.time(seconds), token: delivery.token, attempts: [attempt])
  }
  /// The user tapped it and wrote back.
  package func opened(_ delivery: OutgoingDelivery, id: String = "e1", at seconds: Int64 = 20) -> DeviceEvent {
    DeviceEvent(
      appMode: appMode, delivery: delivery.id, message: delivery.messageID, kind: .opened, at: Self.time(seconds),
      action: nil, text: "네", eventID: id, receivedAt: Self.time(seconds + 1))
  }
}
