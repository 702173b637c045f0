import Foundation
import TalentMarketStory

/// `talent-market-demo --pabal PATH [--seed N]`: tells the story and ends 0, or names the step that failed and ends 1.
/// With a terminal everything stays up until Ctrl-C.
@main
struct TalentMarketDemo {
  static func main() async {
    // A proxy of the environment would catch calls to this machine itself.
    setenv("no_proxy", "127.0.0.1,localhost,::1", 1)
    let options: DemoOptions
    do {
      options = try DemoOptions(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n\(DemoOptions.usage)\n".utf8))
      exit(2)
    }
    say("Talent Market, seed \(options.seed) (repeat with --seed \(options.seed))")
    let story = MarketStory(
      MarketStory.Configuration(pabal: options.pabal, seed: options.seed, sabotage: options.sabotage, tell: say))
    // From here on the story ends in order whatever happens, because only it stops its own programs: a reader of the
    // output who goes away, Ctrl-C, or being asked to end.
    signal(SIGPIPE, SIG_IGN)
    let telling = Task {
      try await story.run { links in
        if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 { await stayUp(links, options.pabal) }
      }
    }
    EndSignals.watch { telling.cancel() }
    let outcome = await telling.result
    switch outcome {
    case .success:
      say("The loop is closed.")
      exit(0)
    case .failure where telling.isCancelled:
      say("Stopped.")
      exit(130)
    case .failure(let error):
      say("✗ \(error)")
      exit(1)
    }
  }

  private static func stayUp(_ links: PabalLinks, _ pabal: String) async {
    say(
      """

      Everything is still up:
        API           \(links.server)/openapi.json
        metrics       \(links.metrics)
        stand-in      \(links.control)/v1/simulator/devices
      Try in another terminal:
        export PABAL_SERVER=\(links.server) PABAL_KEY=\(links.testKey)
        \(pabal) status
        \(pabal) send --user demo-jiwon --title 안녕하세요
      Ctrl-C stops it.
      """)
    await untilCancelled()
  }
}

@Sendable private func say(_ line: String) {
  print(line)
  fflush(nil)
}

struct DemoOptions {
  var pabal = ""
  var seed = UInt64.random(in: 1...999_999)
  var sabotage: Sabotage?

  static let usage = "usage: talent-market-demo --pabal PATH [--seed N] [--sabotage NAME]"

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let flag = rest.popFirst() {
      guard let value = rest.popFirst() else { throw DemoUsage("\(flag) needs a value") }
      switch flag {
      case "--pabal": pabal = value
      case "--seed":
        guard let number = UInt64(value) else { throw DemoUsage("--seed \(value) is not a number") }
        seed = number
      case "--sabotage":
        guard let known = Sabotage(rawValue: value) else {
          throw DemoUsage("--sabotage \(value): known are \(Sabotage.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        sabotage = known
      default: throw DemoUsage("unknown flag \(flag)")
      }
    }
    guard FileManager.default.isExecutableFile(atPath: pabal) else {
      throw DemoUsage("no program at '\(pabal)': run make build, then give --pabal bin/pabal")
    }
  }
}

struct DemoUsage: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
