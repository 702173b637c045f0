import Delivery
import PabalPrimitives
import Testing

@Suite struct LivenessMachineTests {
  private func machine(idleLimit: Duration? = nil) -> LivenessMachine {
    LivenessMachine(quietLimit: .seconds(60), answerLimit: .seconds(10), idleLimit: idleLimit, now: at(0))
  }

  @Test("OC-11: a connection quiet for a minute gets a PING and no push before its answer; no answer, no connection")
  func deadConnection() {
    var liveness = machine()
    _ = liveness.handle(.heard, now: at(5))
    #expect(!liveness.mayWrite(now: at(600)))
    #expect(liveness.handle(.wanted, now: at(600)) == [.ping])
    #expect(liveness.handle(.wanted, now: at(601)) == [])
    #expect(liveness.handle(.used, now: at(601)) == [])
    #expect(!liveness.mayWrite(now: at(601)))
    #expect(liveness.nextWake == at(610))
    #expect(liveness.handle(.wake, now: at(609)) == [])
    #expect(liveness.handle(.wake, now: at(610)) == [.dead])
    #expect(liveness.handle(.heard, now: at(611)) == [])
    #expect(!liveness.mayWrite(now: at(611)))
    #expect(liveness.handle(.wanted, now: at(612)) == [])
  }

  @Test func anAnswerMakesItTrustedAgain() {
    var liveness = machine()
    _ = liveness.handle(.wanted, now: at(61))
    #expect(liveness.handle(.heard, now: at(61.2)) == [])
    #expect(liveness.mayWrite(now: at(61.2)))
    #expect(liveness.nextWake == at(121.2))
    #expect(liveness.handle(.wake, now: at(72)) == [])
  }

  @Test func aBusyConnectionIsNotAsked() {
    var liveness = machine()
    #expect(liveness.handle(.wanted, now: at(59)) == [])
    #expect(liveness.mayWrite(now: at(59)))
  }

  @Test("A quiet connection is asked each minute although no push waits, so that a dead one is gone when one does")
  func askedWithoutAPush() {
    var liveness = machine()
    #expect(liveness.nextWake == at(60))
    #expect(liveness.handle(.wake, now: at(60)) == [.ping])
    _ = liveness.handle(.heard, now: at(60.1))
    #expect(liveness.nextWake == at(120.1))
    #expect(liveness.handle(.wake, now: at(120.1)) == [.ping])
    #expect(liveness.handle(.wake, now: at(130.1)) == [.dead])
  }

  @Test("OC-79: answered PINGs do not keep a connection that carries no push; a push does")
  func idle() {
    var liveness = machine(idleLimit: .seconds(150))
    _ = liveness.handle(.heard, now: at(100))
    #expect(liveness.nextWake == at(150))
    _ = liveness.handle(.used, now: at(140))
    #expect(liveness.handle(.wake, now: at(150)) == [])
    _ = liveness.handle(.heard, now: at(280))
    #expect(liveness.nextWake == at(290))
    #expect(liveness.handle(.wake, now: at(290)) == [.idle])
    #expect(liveness.nextWake == nil)
    #expect(!liveness.mayWrite(now: at(290)))
    // Its last requests may still go unanswered.
    #expect(liveness.handle(.suspected, now: at(300)) == [.ping])
  }

  @Test func aRequestWithoutAnAnswerIsReasonEnoughToAsk() {
    var liveness = machine()
    #expect(liveness.handle(.suspected, now: at(30)) == [.ping])
    #expect(!liveness.mayWrite(now: at(30)))
    #expect(liveness.handle(.wake, now: at(40)) == [.dead])
  }
}
