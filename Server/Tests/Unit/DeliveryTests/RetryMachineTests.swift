import Delivery
import PabalPrimitives
import Testing

@Suite struct RetryMachineTests {
  private func machine(seed: UInt64 = 1) -> RetryMachine {
    RetryMachine(schedule: RetryMachine.Schedule(), seed: seed)
  }

  private func failed(
    _ tag: PushTag, repeats: Int = 0, limit: Int = 3, retryAfter: Duration? = nil, deadline: Instant? = nil
  ) -> RetryMachine.Event {
    .failed(tag, repeats: repeats, limit: limit, retryAfter: retryAfter, deadline: deadline)
  }

  @Test("Full jitter over 1, 5, 25 and then 60 s", arguments: [(0, 1.0), (1, 5.0), (2, 25.0), (3, 60.0), (9, 60.0)])
  func jitter(repeats: Int, ceiling: Double) {
    var longest = Duration.zero
    var shortest = Duration.seconds(100)
    for seed: UInt64 in 0..<400 {
      var retry = machine(seed: seed)
      guard case .later(1, let when) = retry.handle(failed(1, repeats: repeats, limit: 99), now: at(0)).first else {
        Issue.record("a repeat was allowed")
        return
      }
      longest = max(longest, at(0).duration(to: when))
      shortest = min(shortest, at(0).duration(to: when))
    }
    #expect(longest <= .seconds(ceiling))
    #expect(longest > .seconds(ceiling * 0.95))
    #expect(shortest < .seconds(ceiling * 0.05))
  }

  @Test func retryAfterComesFirstAndIsCapped() {
    var retry = machine()
    #expect(retry.handle(failed(1, retryAfter: .seconds(7)), now: at(1)) == [.later(1, at: at(8))])
    #expect(retry.handle(failed(2, retryAfter: .seconds(900)), now: at(1)) == [.later(2, at: at(61))])
  }

  @Test("A repeat that would start past the deadline is given up at once")
  func pastTheDeadline() {
    var retry = machine()
    #expect(retry.handle(failed(1, retryAfter: .seconds(7), deadline: at(7)), now: at(0)) == [.giveUp(1)])
    #expect(retry.handle(failed(1, retryAfter: .seconds(7), deadline: at(7.1)), now: at(0)) == [.later(1, at: at(7))])
    #expect(retry.count == 1)
  }

  @Test func repeatsAreBounded() {
    var retry = machine()
    #expect(retry.handle(failed(1, repeats: 3, limit: 3), now: at(0)) == [.giveUp(1)])
    #expect(retry.handle(failed(2, repeats: 0, limit: 0), now: at(0)) == [.giveUp(2)])
  }

  @Test func dueInTheOrderOfTheirMoments() {
    var retry = machine()
    for (tag, seconds) in [(1, 9), (2, 3), (3, 6), (4, 3), (5, 1)] {
      _ = retry.handle(failed(PushTag(rawValue: UInt64(tag)), retryAfter: .seconds(seconds)), now: at(0))
    }
    _ = retry.handle(.forget(5), now: at(0))
    #expect(retry.nextWake == at(3))
    #expect(retry.handle(.wake, now: at(2)) == [])
    #expect(retry.handle(.wake, now: at(6)) == [.due([2, 4, 3])])
    #expect(retry.nextWake == at(9))
    #expect(retry.handle(.wake, now: at(9)) == [.due([1])])
    #expect(retry.nextWake == nil)
  }
}
