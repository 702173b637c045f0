import PabalCore
import PabalModel
import PabalPrimitives
import Testing

@Suite struct RegistrationMachineTests {
  private let clock = ManualClock(wall: WallTime(milliseconds: 1_800_000_000_000))

  private func machine() -> RegistrationMachine {
    RegistrationMachine(environment: .sandbox, clock: clock.clock, randomness: .seeded(1))
  }

  private static let token = DeviceToken(bytes: Array(repeating: 0xAB, count: 32))
  private static let facts = PabalApplicationFacts(
    bundleID: "kr.app", appVersion: "1", osVersion: "18.1", model: "iPhone17,3", locale: "ko-KR",
    timeZone: "Asia/Seoul", hasServiceExtension: true, hasContentExtension: false)
  private static let allowed = PabalAuthorization(
    permission: .granted, alerts: true, sounds: true, badges: true, lockScreen: true)

  private func sent(_ actions: [RegistrationMachine.Action]) -> [DeviceStateBody] {
    actions.compactMap { if case .send(let body, _) = $0 { body } else { nil } }
  }

  private func ready(_ machine: inout RegistrationMachine, account: AccountRecord? = nil) throws {
    let install = InstallRecord(id: InstallID(rawValue: "i1"), epoch: account?.epoch ?? 0, secret: "s")
    _ = machine.handle(.loaded(install, account ?? AccountRecord(user: nil, epoch: 0)))
    _ = machine.handle(.application(Self.facts))
    _ = machine.handle(.authorization(Self.allowed))
  }

  private static let ok = CallOutcome.accepted(HTTPAnswer(status: 200, body: Array(#"{"status":"updated"}"#.utf8)))

  @Test func `nothing is sent before everything is known, and then once`() throws {
    let token = try #require(Self.token)
    var machine = machine()
    #expect(sent(machine.handle(.token(token))).isEmpty)
    #expect(sent(machine.handle(.application(Self.facts))).isEmpty)
    #expect(machine.handle(.nudge) == [.load])
    let install = InstallRecord(id: InstallID(rawValue: "i1"))
    #expect(sent(machine.handle(.loaded(install, AccountRecord(user: nil, epoch: 0)))).isEmpty)
    #expect(sent(machine.handle(.authorization(Self.allowed))).count == 1)
    #expect(sent(machine.handle(.nudge)).isEmpty)
  }

  @Test func `a change while a call is under way is sent after it`() throws {
    let token = try #require(Self.token)
    var machine = machine()
    try ready(&machine)
    #expect(sent(machine.handle(.token(token))).count == 1)
    #expect(sent(machine.handle(.signIn(UserID(rawValue: "A")))).isEmpty)
    let next = sent(machine.handle(.finished(Self.ok)))
    #expect(next.map(\.user) == [UserID(rawValue: "A")])
    #expect(sent(machine.handle(.finished(Self.ok))).isEmpty)
    #expect(machine.isAtRest)
  }

  @Test func `an account change is saved, the account before the install, and the gate is told`() throws {
    var machine = machine()
    try ready(&machine)
    let actions = machine.handle(.signIn(UserID(rawValue: "A")))
    #expect(
      Array(actions.prefix(3)) == [
        .saveAccount(AccountRecord(user: UserID(rawValue: "A"), epoch: 1)),
        .saveInstall(InstallRecord(id: InstallID(rawValue: "i1"), epoch: 1, secret: "s")),
        .account(epoch: 1, user: UserID(rawValue: "A"), changed: true),
      ])
    #expect(machine.handle(.signIn(UserID(rawValue: "A"))).isEmpty)
  }

  @Test func `a wish before the keychain can be read is fulfilled after`() throws {
    var machine = machine()
    _ = machine.handle(.unreadable)
    #expect(
      machine.handle(.signIn(UserID(rawValue: "A"))).filter { if case .saveAccount = $0 { true } else { false } }
        .isEmpty)
    _ = machine.handle(.loaded(InstallRecord(id: InstallID(rawValue: "i1")), AccountRecord(user: nil, epoch: 4)))
    #expect(machine.user == UserID(rawValue: "A"))
  }

  @Test func `a sign-out does not wait for a token`() throws {
    var machine = machine()
    try ready(&machine, account: AccountRecord(user: UserID(rawValue: "A"), epoch: 1))
    let body = try #require(sent(machine.handle(.signOut)).first)
    #expect(body.user == nil)
    #expect(body.token == nil)
    #expect(body.epoch == 2)
  }

  @Test func `a crash between the two writes of a change is mended by the higher epoch`() {
    var machine = machine()
    let install = InstallRecord(id: InstallID(rawValue: "i1"), epoch: 1)
    let actions = machine.handle(.loaded(install, AccountRecord(user: nil, epoch: 2)))
    #expect(actions.contains(.saveInstall(InstallRecord(id: InstallID(rawValue: "i1"), epoch: 2))))
    #expect(actions.contains(.account(epoch: 2, user: nil, changed: false)))
  }

  @Test func `failures wait 1, 5, 25, 125 and 300 seconds, up to a fifth more`() throws {
    let token = try #require(Self.token)
    var machine = machine()
    try ready(&machine)
    _ = machine.handle(.token(token))
    var waits: [Int64] = []
    for _ in 0..<6 {
      let actions = machine.handle(.finished(CallOutcome(failure: HTTPFailure(.unreachable))))
      waits += actions.compactMap { if case .schedule(let wait) = $0 { wait.milliseconds } else { nil } }
      _ = machine.handle(.retryDue)
    }
    for (wait, base) in zip(waits, [1_000, 5_000, 25_000, 125_000, 300_000, 300_000] as [Int64]) {
      #expect((base...(base + base / 5)).contains(wait))
    }
    #expect(waits.count == 6)
  }

  @Test func `a server that asks for more time gets it, within an hour`() {
    var backOff = BackOff()
    let wait = backOff.next(retryAfter: .seconds(60), randomness: .seeded(1))
    #expect(wait >= .seconds(60) && wait <= .seconds(72))
    #expect(backOff.next(retryAfter: .seconds(99_999), randomness: .seeded(1)) <= .seconds(4_320))
  }

  @Test func `a superseded state goes past the server's epoch`() throws {
    let token = try #require(Self.token)
    var machine = machine()
    try ready(&machine, account: AccountRecord(user: UserID(rawValue: "A"), epoch: 2))
    _ = machine.handle(.token(token))
    let answer = HTTPAnswer(status: 200, body: Array(#"{"status":"superseded","epoch":7}"#.utf8))
    let next = sent(machine.handle(.finished(.accepted(answer))))
    #expect(next.map(\.epoch) == [8])
  }

  @Test func `an answer that is not Pabal's is no acknowledgement`() throws {
    let token = try #require(Self.token)
    var machine = machine()
    try ready(&machine)
    _ = machine.handle(.token(token))
    let portal = HTTPAnswer(status: 200, body: Array("<html>Log in</html>".utf8))
    let actions = machine.handle(.finished(.accepted(portal)))
    #expect(actions.contains { if case .schedule = $0 { true } else { false } })
    #expect(sent(machine.handle(.retryDue)).count == 1)
  }

  @Test func `records survive their encoding, and broken ones are refused`() {
    let install = InstallRecord(id: InstallID(rawValue: "i1"), epoch: 3, secret: "s")
    #expect(InstallRecord(install.encoded) == install)
    let account = AccountRecord(
      user: UserID(rawValue: "지원"), epoch: 3, acknowledged: "h", acknowledgedAt: WallTime(milliseconds: 5))
    #expect(AccountRecord(account.encoded) == account)
    #expect(InstallRecord(Array("{}".utf8)) == nil)
    #expect(AccountRecord([0xFF]) == nil)
  }

  @Test(arguments: [
    ("<key>aps-environment</key>\n\t<string>development</string>", PushEnvironment.sandbox),
    ("<key>aps-environment</key><string>production</string>", .production),
  ])
  func provisioningProfile(text: String, expected: PushEnvironment) {
    let profile = [0x30, 0x82, 0xFF, 0x00] + Array(text.utf8) + [0x00, 0xFE]
    #expect(ProvisioningProfile.apnsEnvironment(in: profile) == expected)
  }

  @Test(arguments: ["", "<key>aps-environment</key>", "<key>aps-environment</key><string>other</string>"])
  func provisioningProfileWithoutPush(text: String) {
    #expect(ProvisioningProfile.apnsEnvironment(in: Array(text.utf8)) == nil)
  }
}
