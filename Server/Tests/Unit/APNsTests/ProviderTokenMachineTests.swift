import APNs
import PabalModel
import PabalPrimitives
import Testing

@Suite struct ProviderTokenMachineTests {
  private typealias Machine = ProviderTokenMachine

  @Test("OC-01 all pushes carry one and the same token") func oneToken() {
    var machine = Machine()
    #expect(machine.handle(.tokenNeeded, now: at(0)) == [.mint(generation: 1), .wait])
    #expect(
      machine.handle(.minted(generation: 1), now: at(0))
        == [.use(generation: 1), .scheduleRenewal(after: .seconds(3000))])
    for second in 0..<10 { #expect(machine.handle(.tokenNeeded, now: at(second)) == [.use(generation: 1)]) }
  }

  @Test("OC-02 one mint in a cold burst, one at the renewal") func singleFlight() {
    var machine = Machine()
    var actions = (0..<20).flatMap { _ in machine.handle(.tokenNeeded, now: at(0)) }
    #expect(actions.filter { $0 == .mint(generation: 1) }.count == 1)
    #expect(actions.filter { $0 == .wait }.count == 20)
    _ = machine.handle(.minted(generation: 1), now: at(1))
    actions = (0..<50).flatMap { _ in machine.handle(.tokenNeeded, now: at(3301)) }
    #expect(actions.filter { $0 == .mint(generation: 2) }.count == 1)
    #expect(actions.filter { $0 == .wait }.count == 50)
    #expect(machine.handle(.minted(generation: 2), now: at(3301)).first == .use(generation: 2))
  }

  @Test func betweenFiftyAndFiftyFiveMinutesTheOldTokenGoesOnDuringTheMint() {
    var machine = started()
    #expect(machine.handle(.tokenNeeded, now: at(2999)) == [.use(generation: 1)])
    #expect(machine.handle(.tokenNeeded, now: at(3000)) == [.mint(generation: 2), .use(generation: 1)])
    #expect(machine.handle(.tokenNeeded, now: at(3001)) == [.use(generation: 1)])
    #expect(machine.handle(.tokenNeeded, now: at(3300)) == [.wait])
    #expect(machine.handle(.minted(generation: 2), now: at(3301)).first == .use(generation: 2))
  }

  @Test func renewsInTheBackgroundOnlyAfterTraffic() {
    var machine = started()
    #expect(machine.handle(.renewalDue, now: at(2000)) == [])
    #expect(machine.handle(.renewalDue, now: at(3000)) == [.mint(generation: 2)])
    _ = machine.handle(.minted(generation: 2), now: at(3000))
    #expect(machine.handle(.renewalDue, now: at(6000)) == [])
    #expect(machine.handle(.tokenNeeded, now: at(9000)) == [.mint(generation: 3), .wait])
  }

  @Test func aSharedTokenIsAsOldAsItIs() {
    var machine = Machine()
    _ = machine.handle(.tokenNeeded, now: at(5000))
    #expect(
      machine.handle(.minted(generation: 1, age: .seconds(2000)), now: at(5000))
        == [.use(generation: 1), .scheduleRenewal(after: .seconds(1000))])
    #expect(machine.handle(.tokenNeeded, now: at(5999)) == [.use(generation: 1)])
    #expect(machine.handle(.tokenNeeded, now: at(6000)) == [.mint(generation: 2), .use(generation: 1)])
  }

  @Test("OC-04 a token that is expired right after its mint means a wrong clock, not another mint") func clockSkew() {
    var machine = started()
    #expect(machine.handle(.refusedAsExpired(generation: 1), now: at(1)) == [.mint(generation: 2), .wait])
    #expect(machine.handle(.refusedAsExpired(generation: 1), now: at(1)) == [.wait])
    _ = machine.handle(.minted(generation: 2), now: at(2))
    #expect(machine.handle(.refusedAsExpired(generation: 1), now: at(2)) == [.use(generation: 2)])
    #expect(machine.handle(.refusedAsExpired(generation: 2), now: at(3)) == [.refuse(.clockSkewSuspected)])
    for second in 4..<60 {
      #expect(machine.handle(.tokenNeeded, now: at(second)) == [.refuse(.clockSkewSuspected)])
      #expect(machine.handle(.refusedAsExpired(generation: 2), now: at(second)) == [.refuse(.clockSkewSuspected)])
    }
    #expect(machine.handle(.tokenNeeded, now: at(3 + 1200)) == [.mint(generation: 3), .wait])
  }

  @Test("OC-16 one forced mint, then the end") func boundedRemint() {
    var machine = started()
    var mints = 0
    for second in 1..<1000 {
      let generation = mints + 1
      let actions = machine.handle(.refusedAsExpired(generation: generation), now: at(second))
      guard actions.contains(where: { if case .mint = $0 { true } else { false } }) else { continue }
      mints += 1
      _ = machine.handle(.minted(generation: generation + 1), now: at(second))
    }
    #expect(mints == 1)
  }

  @Test func aReplacementThatWorkedMayBeReplacedLater() {
    var machine = started()
    _ = machine.handle(.refusedAsExpired(generation: 1), now: at(1000))
    _ = machine.handle(.minted(generation: 2), now: at(1000))
    _ = machine.handle(.approved(generation: 2), now: at(1001))
    #expect(machine.handle(.refusedAsExpired(generation: 2), now: at(2400)) == [.mint(generation: 3), .wait])
  }

  @Test func aChangeThatAPNsRefusesIsTakenBack() {
    var machine = started()
    _ = machine.handle(.tokenNeeded, now: at(3000))
    _ = machine.handle(.minted(generation: 2), now: at(3000))
    #expect(machine.handle(.refusedAsTooMany(generation: 1), now: at(3001)) == [])
    #expect(machine.handle(.refusedAsTooMany(generation: 2), now: at(3001)) == [.use(generation: 1)])
    #expect(machine.handle(.refusedAsTooMany(generation: 1), now: at(3002)) == [])
    #expect(machine.handle(.tokenNeeded, now: at(3299)) == [.use(generation: 1)])
    #expect(machine.handle(.renewalDue, now: at(3299)) == [])
    #expect(machine.handle(.tokenNeeded, now: at(3300)) == [.mint(generation: 3), .wait])
  }

  @Test func aRefusedCredentialStaysRefused() {
    var machine = started()
    let reason = ReasonCode.apns("InvalidProviderToken")
    #expect(machine.handle(.credentialRefused(reason), now: at(1)) == [.refuse(reason)])
    #expect(machine.handle(.tokenNeeded, now: at(100_000)) == [.refuse(reason)])
    var unable = Machine()
    _ = unable.handle(.tokenNeeded, now: at(0))
    #expect(unable.handle(.mintFailed, now: at(0)) == [.refuse(.credentialMissing)])
  }

  private func started() -> Machine {
    var machine = Machine()
    _ = machine.handle(.tokenNeeded, now: at(0))
    _ = machine.handle(.minted(generation: 1), now: at(0))
    return machine
  }

  private func at(_ seconds: Int) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }
}
