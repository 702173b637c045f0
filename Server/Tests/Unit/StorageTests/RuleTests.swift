import PabalModel
import PabalPrimitives
import Storage
import Testing

/// The rules that both stores follow, without a store.
@Suite struct RuleTests {
  private static let now = WallTime(milliseconds: 1_800_000_000_000)
  private static let device = DeviceNumber(rawValue: 1)

  private static func record(
    token: UInt8 = 1, environment: PushEnvironment? = nil, learned: Bool = false,
    status: DeviceRecord.Status = .active
  ) -> DeviceRecord {
    DeviceRecord(
      number: device, id: DeviceID(rawValue: "dev_1"), user: UserID(rawValue: "u"), install: nil, epoch: 0,
      token: DeviceToken(bytes: [token]), platform: .ios, topic: nil, environment: environment,
      environmentIsLearned: learned, status: status, inactiveReason: nil, attributes: DeviceAttributes(),
      createdAt: now, registeredAt: now)
  }

  private static func outcome(
    status: Int?, reason: String?, since: WallTime? = nil, startedAt: WallTime = now.advanced(by: .seconds(1))
  ) -> DeliveryOutcome {
    let attempt = AttemptRecord(
      number: 1, startedAt: startedAt, duration: .zero, environment: .production, status: status, reason: reason,
      tokenDeadSince: since, apnsID: nil, apnsUniqueID: nil, connection: "c1")
    return DeliveryOutcome(
      key: DeliveryKey(message: MessageNumber(rawValue: 1), device: device), state: .rejected, reason: nil, at: now,
      token: DeviceToken(bytes: [1]), attempts: [attempt])
  }

  struct Case: Sendable {
    let status: Int?
    let reason: String?
    let since: WallTime?
    let record: DeviceRecord
    let wanted: TokenHygiene
  }

  static let cases = [
    Case(status: nil, reason: nil, since: nil, record: record(), wanted: .none),
    Case(status: 200, reason: nil, since: nil, record: record(), wanted: .environmentLearned(.production)),
    Case(
      status: 200, reason: nil, since: nil, record: record(environment: .production),
      wanted: .environmentLearned(.production)),
    Case(
      status: 200, reason: nil, since: nil, record: record(environment: .production, learned: true), wanted: .none),
    Case(status: 200, reason: nil, since: nil, record: record(token: 2), wanted: .none),
    Case(status: 410, reason: "Unregistered", since: now, record: record(), wanted: .keptReregistered),
    Case(
      status: 410, reason: "ExpiredToken", since: now.advanced(by: .milliseconds(1)), record: record(),
      wanted: .deactivated(.apns("ExpiredToken"))),
    Case(status: 410, reason: nil, since: nil, record: record(), wanted: .deactivated(.apns("Unregistered"))),
    Case(status: 410, reason: nil, since: nil, record: record(token: 2), wanted: .keptTokenReplaced),
    Case(status: 410, reason: nil, since: nil, record: record(status: .inactive), wanted: .none),
    Case(status: 400, reason: "BadDeviceToken", since: nil, record: record(), wanted: .keptEnvironmentUnknown),
    Case(
      status: 400, reason: "BadDeviceToken", since: nil, record: record(environment: .production),
      wanted: .keptEnvironmentUnknown),
    Case(
      status: 400, reason: "BadDeviceToken", since: nil, record: record(environment: .sandbox, learned: true),
      wanted: .keptEnvironmentUnknown),
    Case(
      status: 400, reason: "BadDeviceToken", since: nil, record: record(environment: .production, learned: true),
      wanted: .deactivated(.apns("BadDeviceToken"))),
    Case(status: 400, reason: "DeviceTokenNotForTopic", since: nil, record: record(), wanted: .none),
    Case(status: 429, reason: "TooManyRequests", since: nil, record: record(), wanted: .none),
    Case(status: 503, reason: "ServiceUnavailable", since: nil, record: record(), wanted: .none),
  ]

  @Test(arguments: cases.indices) func `what an answer does to a device`(index: Int) {
    let row = Self.cases[index]
    let outcome = Self.outcome(status: row.status, reason: row.reason, since: row.since)
    #expect(TokenHygiene.decide(after: outcome, on: row.record) == row.wanted)
  }

  @Test func `a report's time lies between five minutes before the acceptance and now`() {
    func clamped(_ seconds: Int64) -> WallTime {
      DeviceEvent(
        appMode: AppMode(app: 1, mode: .test), delivery: DeliveryID(rawValue: "d"), message: MessageID(rawValue: "m"),
        kind: .opened, at: Self.now.advanced(by: .seconds(seconds)), action: nil, text: nil, eventID: "e",
        receivedAt: Self.now.advanced(by: .seconds(100))
      ).clampedTime(acceptedAt: Self.now)
    }
    #expect(clamped(-1_000) == Self.now.advanced(by: .seconds(-300)))
    #expect(clamped(50) == Self.now.advanced(by: .seconds(50)))
    #expect(clamped(9_999) == Self.now.advanced(by: .seconds(100)))
  }

  @Test func `curable reasons give a dedupe claim back, final ones do not`() {
    let curable: [ReasonCode] = [
      .noDevices, .userUnknown, .deviceInactive, .deviceUnregistered, .deviceReassigned, .credentialMissing,
      .payloadInvalid,
    ]
    #expect(curable.filter { !$0.releasesDedupeClaim } == [])
    let final: [ReasonCode] = [.preferenceOff, .processStopped, .replyLost, .apns("Unregistered"), .duplicate]
    #expect(final.filter { $0.releasesDedupeClaim } == [])
  }

  @Test func `app and mode make one number, and come back out of it`() {
    let numbers = (Int64(1)...3).flatMap { app in PushMode.allCases.map { AppMode(app: app, mode: $0) } }
    #expect(Set(numbers.map(\.rawValue)).count == 6)
    #expect(numbers.map { AppMode(app: $0.app, mode: $0.mode) } == numbers)
  }
}
