import EventLoop
import Testing

@Suite("Which address is dialled when (RFC 8305)")
struct AddressRaceMachineTests {
  @Test("The families take turns, the resolver's first one leads")
  func order() {
    #expect(AddressRaceMachine.order([.ipv6, .ipv6, .ipv6, .ipv4, .ipv4]) == [0, 3, 1, 4, 2])
    #expect(AddressRaceMachine.order([.ipv4, .ipv4]) == [0, 1])
    #expect(AddressRaceMachine.order([.ipv4, .ipv6]) == [0, 1])
    #expect(AddressRaceMachine.order([]) == [])
  }

  @Test("An address that does not answer holds the next one for 250 ms, not for its timeout; the first one up wins")
  func stagger() {
    #expect(AddressRaceMachine.stagger == .milliseconds(250))
    var race = AddressRaceMachine(count: 3)
    #expect(race.handle(.start) == [.armStagger, .dial(0)])
    #expect(race.handle(.staggerElapsed) == [.armStagger, .dial(1)])
    #expect(race.handle(.staggerElapsed) == [.disarmStagger, .dial(2)])
    #expect(race.handle(.failed(2)) == [])
    #expect(race.handle(.connected(0)) == [.disarmStagger, .win(0)])
    // Those that were dropped may still say something.
    #expect(race.handle(.connected(1)) == [])
    #expect(race.handle(.failed(1)) == [])
    #expect(race.handle(.staggerElapsed) == [])
  }

  @Test("One that fails at once is followed at once")
  func failure() {
    var race = AddressRaceMachine(count: 2)
    #expect(race.handle(.start) == [.armStagger, .dial(0)])
    #expect(race.handle(.failed(0)) == [.disarmStagger, .dial(1)])
    #expect(race.handle(.failed(1)) == [.disarmStagger, .lose])
  }

  @Test func aSlowOneMayStillWinAfterTheOthersFailed() {
    var race = AddressRaceMachine(count: 2)
    _ = race.handle(.start)
    _ = race.handle(.staggerElapsed)
    #expect(race.handle(.failed(1)) == [])
    #expect(race.handle(.connected(0)) == [.disarmStagger, .win(0)])
  }

  @Test func noAddressIsALoss() {
    var race = AddressRaceMachine(count: 0)
    #expect(race.handle(.start) == [.lose])
  }
}
