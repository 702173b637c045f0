import Delivery
import PabalPrimitives
import Testing

@Suite struct PoolMachineTests {
  private func pool(connections: Int = 1, dialsMaximum: Int? = nil, seed: UInt64 = 1) -> PoolMachine {
    PoolMachine(rules: PoolMachine.Rules(connections: connections, dialsMaximum: dialsMaximum), seed: seed)
  }

  @Test func oneDialForAnyNumberOfWaitingPushes() {
    var pool = pool(connections: 4)
    #expect(pool.handle(.demand(waiting: 100, free: 0), now: at(0)) == [.dial(1)])
    #expect(pool.handle(.demand(waiting: 5000, free: 0), now: at(1)) == [])
    _ = pool.handle(.ready(1), now: at(2))
    #expect(pool.handle(.demand(waiting: 1000, free: 5), now: at(2)) == [])
  }

  @Test("A connection is filled before the next one is opened, up to the limit, one dial at a time")
  func growsWhenFull() {
    var pool = pool(connections: 2)
    _ = pool.handle(.demand(waiting: 1, free: 0), now: at(0))
    _ = pool.handle(.ready(1), now: at(0))
    #expect(pool.handle(.wake, now: at(0.5)) == [])
    #expect(pool.handle(.demand(waiting: 9, free: 0), now: at(1)) == [.dial(2)])
    _ = pool.handle(.ready(2), now: at(1))
    #expect(pool.handle(.demand(waiting: 9, free: 0), now: at(2)) == [])
  }

  @Test("OC-12: a dial that never completes is abandoned after 10 s; one new dial starts after a back-off")
  func hangingDial() throws {
    var pool = pool()
    #expect(pool.handle(.demand(waiting: 100, free: 0), now: at(0)) == [.dial(1)])
    #expect(pool.nextWake == at(10))
    #expect(pool.handle(.wake, now: at(9.9)) == [])
    #expect(pool.handle(.wake, now: at(10)) == [.abandon(1)])
    #expect(pool.handle(.demand(waiting: 100, free: 0), now: at(10)) == [])
    let again = try #require(pool.nextWake)
    #expect(again >= at(10) && again <= at(10.25))
    #expect(pool.handle(.wake, now: again) == [.dial(2)])
    // The late end of the abandoned dial changes nothing.
    #expect(pool.handle(.closed(1), now: again) == [])
    #expect(pool.handle(.ready(2), now: again) == [])
  }

  @Test("Back-off: full jitter below a ceiling that doubles to 30 s and never beyond; it differs between seeds")
  func backOff() {
    func waits(seed: UInt64) -> [Duration] {
      var pool = pool(seed: seed)
      var now = at(0)
      return (0..<12).map { _ in
        _ = pool.handle(.demand(waiting: 1, free: 0), now: now)
        let dialed = ConnectionKey(rawValue: Int32(pool.dials))
        _ = pool.handle(.closed(dialed), now: now)
        _ = pool.handle(.demand(waiting: 1, free: 0), now: now)
        let next = pool.nextWake ?? now
        defer { now = next }
        return now.duration(to: next)
      }
    }
    let first = waits(seed: 1)
    var shares: [Double] = []
    for seed in 1...50 as ClosedRange<UInt64> {
      for (index, wait) in waits(seed: seed).enumerated() {
        let ceiling = min(.milliseconds(250) * (1 << index), .seconds(30))
        #expect(wait >= .zero && wait <= ceiling)
        shares.append(wait / ceiling)
      }
    }
    // All of the range is used, and on average the middle of it.
    #expect(shares.contains { $0 < 0.1 } && shares.contains { $0 > 0.9 })
    let mean = shares.reduce(0, +) / Double(shares.count)
    #expect(mean > 0.44 && mean < 0.56)
    #expect(first == waits(seed: 1))
    #expect(first != waits(seed: 2))
  }

  @Test func anAnswerEndsTheBackOff() {
    var pool = pool()
    _ = pool.handle(.demand(waiting: 1, free: 0), now: at(0))
    _ = pool.handle(.closed(1), now: at(0))
    _ = pool.handle(.demand(waiting: 1, free: 0), now: at(1))
    _ = pool.handle(.ready(2), now: at(1))
    _ = pool.handle(.answered(2), now: at(1))
    _ = pool.handle(.closed(2), now: at(2))
    #expect(pool.handle(.demand(waiting: 1, free: 0), now: at(2)) == [.dial(3)])
  }

  @Test("A peer that says GOAWAY to each new connection at once is not dialled in a loop")
  func goawayAtOnceBacksOff() {
    var pool = pool()
    _ = pool.handle(.demand(waiting: 1, free: 0), now: at(0))
    _ = pool.handle(.ready(1), now: at(0))
    _ = pool.handle(.leaving(1), now: at(0))
    #expect(pool.handle(.demand(waiting: 1, free: 0), now: at(0)) == [])
    #expect(pool.nextWake.map { $0 > at(0) } == true)
  }

  @Test("OC-15: after GOAWAY the next push gets a new connection although the old one is still open")
  func goawayIsReplaced() {
    var pool = pool()
    _ = pool.handle(.demand(waiting: 1, free: 0), now: at(0))
    _ = pool.handle(.ready(1), now: at(0))
    _ = pool.handle(.answered(1), now: at(0))
    #expect(pool.handle(.leaving(1), now: at(1)) == [])
    #expect(pool.handle(.demand(waiting: 1, free: 0), now: at(60)) == [.dial(2)])
  }

  @Test("A connection that leaves by our own wish is no failed dial, though it never answered")
  func retiredByUs() {
    var pool = pool()
    _ = pool.handle(.demand(waiting: 1, free: 0), now: at(0))
    _ = pool.handle(.ready(1), now: at(0))
    _ = pool.handle(.retired(1), now: at(0))
    #expect(pool.handle(.demand(waiting: 1, free: 0), now: at(0)) == [.dial(2)])
  }

  @Test(
    "Another credential: open connections run out, a dial is given up, back-off is forgotten, the next dial is at once")
  func replaceAll() {
    var pool = pool(connections: 2)
    _ = pool.handle(.demand(waiting: 9, free: 0), now: at(0))
    _ = pool.handle(.closed(1), now: at(0))
    #expect(pool.handle(.demand(waiting: 9, free: 0), now: at(1)) == [.dial(2)])
    _ = pool.handle(.ready(2), now: at(1))
    _ = pool.handle(.demand(waiting: 9, free: 0), now: at(1))
    #expect(pool.handle(.replaceAll, now: at(1)) == [.retire(2), .abandon(3)])
    #expect(pool.handle(.closed(3), now: at(1)) == [])
    #expect(pool.handle(.demand(waiting: 9, free: 0), now: at(1)) == [.dial(4)])
    #expect(pool.handle(.replaceAll, now: at(1)) == [.abandon(4)])
  }

  @Test("OC-89: five 500s in a row on one connection retire it; an answer in between starts the count again")
  func serverErrors() {
    var pool = pool()
    _ = pool.handle(.demand(waiting: 1, free: 0), now: at(0))
    _ = pool.handle(.ready(1), now: at(0))
    for _ in 0..<4 { #expect(pool.handle(.serverError(1), now: at(1)) == []) }
    _ = pool.handle(.answered(1), now: at(1))
    for _ in 0..<4 { #expect(pool.handle(.serverError(1), now: at(2)) == []) }
    #expect(pool.handle(.serverError(1), now: at(2)) == [.retire(1)])
    #expect(pool.handle(.serverError(1), now: at(2)) == [])
    #expect(pool.handle(.demand(waiting: 1, free: 0), now: at(2)) == [.dial(2)])
  }

  @Test func waitingPushesAreReleasedAfterSoManyFailedDials() {
    var pool = pool(dialsMaximum: 3)
    var now = at(0)
    var seen: [PoolMachine.Action] = []
    for key: Int32 in 1...3 {
      #expect(pool.handle(.demand(waiting: 9, free: 0), now: now) == [.dial(ConnectionKey(rawValue: key))])
      seen += pool.handle(.closed(ConnectionKey(rawValue: key)), now: now)
      _ = pool.handle(.demand(waiting: 9, free: 0), now: now)
      now = pool.nextWake ?? now
    }
    #expect(seen == [.unreachable(dials: 3)])
  }

  @Test func shutdownRetiresAllAndDialsNoMore() {
    var pool = pool(connections: 2)
    _ = pool.handle(.demand(waiting: 1, free: 0), now: at(0))
    _ = pool.handle(.ready(1), now: at(0))
    #expect(pool.handle(.shutdown, now: at(1)) == [.retire(1)])
    #expect(pool.handle(.demand(waiting: 1, free: 0), now: at(2)) == [])
    #expect(pool.nextWake == nil)
  }
}
