import Delivery
import PabalModel
import PabalPrimitives
import Testing

@Suite struct RetryPolicyTests {
  private let now = WallTime(seconds: 1_800_000_000)

  private func wait(
    _ reason: ReasonCode = .apns("ServiceUnavailable"), retryAfter: Duration? = nil, postponements: Int,
    seed: UInt64 = 1
  ) throws -> Duration {
    let decision = RetryPolicy().decide(
      after: RetryPolicy.Failure(
        reason: reason, retryAfter: retryAfter, attempts: 1, postponements: postponements),
      now: now, end: nil, randomness: .seeded(seed))
    guard case .again(let at) = decision else {
      Issue.record("given up: \(decision)")
      return .zero
    }
    return now.duration(to: at)
  }

  @Test func `waits grow to 15 minutes, each moved by a fifth at most and not always alike`() throws {
    let steps: [Int64] = [1, 5, 30, 120, 900, 900, 900]
    for (postponements, seconds) in steps.enumerated() {
      let waits = try (1...50).map { try wait(postponements: postponements, seed: $0) }
      for wait in waits {
        #expect(wait >= .milliseconds(seconds * 800) && wait <= .milliseconds(seconds * 1200), "\(postponements)")
      }
      #expect(Set(waits).count > 10)
    }
  }

  @Test func `an unreachable provider is tried again within half a minute`() throws {
    #expect(try wait(.providerUnreachable, postponements: 9) <= .seconds(36))
  }

  @Test func `Retry-After wins, up to an hour`() throws {
    #expect(try wait(retryAfter: .seconds(77), postponements: 0) == .seconds(77))
    #expect(try wait(retryAfter: .zero, postponements: 4) == .zero)
    #expect(try wait(retryAfter: .seconds(86_400), postponements: 0) == .seconds(3_600))
  }

  @Test func `never past the end, and not more than ten times`() {
    func decide(_ attempts: Int, end: Int64) -> RetryPolicy.Decision {
      RetryPolicy().decide(
        after: RetryPolicy.Failure(
          reason: .apns("TooManyRequests"), retryAfter: .seconds(30), attempts: attempts, postponements: 0),
        now: now, end: now.advanced(by: .seconds(end)), randomness: .seeded(1))
    }
    #expect(decide(1, end: 31) == .again(at: now.advanced(by: .seconds(30))))
    #expect(decide(1, end: 30) == .giveUp(.expired, .timeToLiveElapsed))
    #expect(decide(9, end: 31) == .again(at: now.advanced(by: .seconds(30))))
    #expect(decide(10, end: 31) == .giveUp(.rejected, .retriesExhausted))
  }
}
