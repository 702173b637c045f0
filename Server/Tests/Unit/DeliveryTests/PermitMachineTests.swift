import Delivery
import Testing

@Suite struct PermitMachineTests {
  @Test("Permits follow SETTINGS 1 → 100 → 0 → 100; 0 is a pause, and nobody waits when the limit rises again")
  func followsSettings() {
    var permits = PermitMachine(ownLimit: 1000, peerLimit: 0)
    #expect(permits.available == 0)
    #expect(permits.handle(.settings(limit: 1)) == .resume(1))
    #expect(permits.handle(.opened(1)) == .pause)
    #expect(permits.handle(.settings(limit: 100)) == .resume(99))
    #expect(permits.handle(.opened(99)) == .pause)
    #expect(permits.handle(.settings(limit: 0)) == nil)
    #expect(permits.handle(.closed(60)) == nil)
    #expect(permits.available == 0)
    #expect(permits.inFlight == 40)
    #expect(permits.handle(.settings(limit: 100)) == .resume(60))
  }

  @Test("Below the number of open streams nothing is opened until enough have closed")
  func shrinksBelowOpenStreams() {
    var permits = PermitMachine(ownLimit: 1000, peerLimit: 500)
    _ = permits.handle(.opened(50))
    #expect(permits.handle(.settings(limit: 1)) == .pause)
    #expect(permits.handle(.closed(49)) == nil)
    #expect(permits.available == 0)
    #expect(permits.handle(.closed(1)) == .resume(1))
  }

  @Test func ourOwnLimitHolds() {
    var permits = PermitMachine(ownLimit: 10, peerLimit: 0)
    #expect(permits.handle(.settings(limit: 1000)) == .resume(10))
  }

  @Test func aRetiredConnectionRunsOut() {
    var permits = PermitMachine(ownLimit: 10, peerLimit: 10)
    _ = permits.handle(.opened(2))
    #expect(permits.handle(.retired) == .pause)
    #expect(permits.handle(.settings(limit: 1000)) == nil)
    #expect(permits.handle(.closed(1)) == nil)
    #expect(permits.handle(.closed(1)) == .drained)
    #expect(permits.available == 0)
  }

  @Test func retiringAnIdleConnectionDrainsAtOnce() {
    var permits = PermitMachine(ownLimit: 10, peerLimit: 10)
    #expect(permits.handle(.retired) == .drained)
  }

  @Test func theSimulationsLeakIsALeak() {
    var permits = PermitMachine(ownLimit: 10, peerLimit: 10, planted: .leakPermit)
    _ = permits.handle(.opened(10))
    _ = permits.handle(.closed(10))
    #expect(permits.inFlight == 1)
  }
}
