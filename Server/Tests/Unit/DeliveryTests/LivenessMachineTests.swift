import Delivery
import PabalPrimitives
import Testing

@Suite struct LivenessMachineTests {
  private func machine() -> LivenessMachine {
    LivenessMachine(quietLimit: .seconds(60), answerLimit: .seconds(10), now: at(0))
  }

  @Test("OC-11: a connection quiet for a minute gets a PING and no push before its answer; no answer, no connection")
  func deadConnection() {
    var liveness = machine()
    _ = liveness.handle(.heard, now: at(5))
    #expect(!liveness.mayWrite(now: at(600)))
    #expect(liveness.handle(.wanted, now: at(600)) == [.ping])
    #expect(liveness.handle(.wanted, now: at(601)) == [])
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
    #expect(liveness.nextWake == nil)
    #expect(liveness.handle(.wake, now: at(72)) == [])
  }

  @Test func aBusyConnectionIsNotAsked() {
    var liveness = machine()
    #expect(liveness.handle(.wanted, now: at(59)) == [])
    #expect(liveness.mayWrite(now: at(59)))
  }

  @Test func aRequestWithoutAnAnswerIsReasonEnoughToAsk() {
    var liveness = machine()
    #expect(liveness.handle(.suspected, now: at(30)) == [.ping])
    #expect(!liveness.mayWrite(now: at(30)))
    #expect(liveness.handle(.wake, now: at(40)) == [.dead])
  }
}
