import Commands
import PabalPrimitives
import Testing

@Suite struct SendProgressTests {
  private static let wall = WallTime(milliseconds: 1_800_000_000_000)

  @Test func aBarFitsItsTerminal() {
    let bar = SendProgress.bar(
      done: 790_116, total: 963_556, rejected: 3310, elapsed: .milliseconds(39_625), width: 120, hasUnicode: true)
    #expect(
      bar == " sending  ████████████████████▌░░░░  82 %  790,116/963,556  19,939/s  ETA 9 s   rejected 3,310")
    let plain = SendProgress.bar(
      done: 5, total: 10, rejected: 0, elapsed: .seconds(5), width: 120, hasUnicode: false)
    #expect(plain == " sending  [############.............]  50 %  5/10  1/s  ETA 5 s")
    #expect(
      SendProgress.bar(done: 1200, total: nil, rejected: 0, elapsed: .seconds(2), width: 80, hasUnicode: true)
        == " sending  1,200  600/s")
    let long = SendProgress.bar(
      done: 1, total: 7300, rejected: 0, elapsed: .seconds(1), width: 200, hasUnicode: true)
    #expect(long.hasSuffix("ETA 2 h 1 min"))
    let narrow = SendProgress.bar(
      done: 5, total: 10, rejected: 0, elapsed: .seconds(5), width: 20, hasUnicode: true)
    #expect(DisplayWidth.of(narrow) <= 19)
  }

  @Test func aShortRunHasNoBar() {
    let start = Instant(nanoseconds: 5_000_000_000)
    var progress = SendProgress(style: .bar(width: 80, hasUnicode: true), total: 10, started: start)
    let at = { (milliseconds: Int) in start.advanced(by: .milliseconds(milliseconds)) }
    #expect(progress.update(done: 1, rejected: 0, now: at(900), wall: Self.wall) == nil)
    #expect(progress.finish() == nil)
    #expect(progress.update(done: 2, rejected: 0, now: at(1000), wall: Self.wall)?.hasPrefix("\r sending") == true)
    #expect(progress.update(done: 3, rejected: 0, now: at(1100), wall: Self.wall) == nil)
    #expect(progress.update(done: 4, rejected: 0, now: at(1200), wall: Self.wall) != nil)
    #expect(progress.finish() == "\r\u{1B}[K")
    #expect(progress.finish() == nil)
  }

  @Test func aLogHasALineForEachTenthOrTenSeconds() {
    let start = Instant(nanoseconds: 0)
    var progress = SendProgress(style: .log, total: 1000, started: start)
    var lines: [String] = []
    for (done, seconds) in [(50, 1), (100, 2), (150, 3), (199, 4), (200, 5), (900, 5), (901, 16), (902, 17)] {
      let now = start.advanced(by: .seconds(seconds))
      if let line = progress.update(done: done, rejected: 7, now: now, wall: Self.wall) { lines.append(line) }
    }
    #expect(
      lines == [
        "08:00:00 sending 100/1000 rate=50 rejected=7\n", "08:00:00 sending 200/1000 rate=40 rejected=7\n",
        "08:00:00 sending 901/1000 rate=56 rejected=7\n",
      ])
    var quiet = SendProgress(style: .none, total: 1000, started: start)
    #expect(quiet.update(done: 500, rejected: 0, now: start.advanced(by: .seconds(60)), wall: Self.wall) == nil)
  }

  @Test func aRateIsKeptOverTheRun() {
    var now = Instant(nanoseconds: 1_000_000_000)
    var pace = SendPace(rate: 100, started: now)
    let block = pace.blockSize(atMost: 1024)
    #expect(block == 5)
    var sent = 0
    for _ in 0..<200 {
      now = now.advanced(by: pace.wait(now: now))
      pace.spend(block)
      sent += block
    }
    #expect(sent == 1000)
    // 1000 pushes at 100 a second: the last block leaves after 9.95 s.
    #expect(Instant(nanoseconds: 1_000_000_000).duration(to: now) == .milliseconds(9950))
    #expect(SendPace(rate: 1, started: now).blockSize(atMost: 1024) == 1)
    #expect(SendPace(rate: 1_000_000, started: now).blockSize(atMost: 1024) == 1024)
    // Over the whole run: what a pause lost is made up for.
    let late = now.advanced(by: .seconds(5))
    #expect(pace.wait(now: late) == .zero)
  }
}
