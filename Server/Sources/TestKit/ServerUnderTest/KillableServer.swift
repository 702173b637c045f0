import PabalPrimitives
import PabalServer

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// `ServerUnderTest DATA SIMULATOR-FILE [sends-before-marking | dies-while-pruning BITE MICROSECONDS]`: `pabal up` for
/// a test that kills it.
@main
enum KillableServer {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count >= 2 else { exit(2) }
    var configuration = UpConfiguration(folder: .kept(words[0]), port: 0, simulatorFile: words[1])
    switch words.dropFirst(2).first {
    case nil: break
    case "sends-before-marking": configuration.storeLayer = SendsBeforeMarking.layer
    case "dies-while-pruning":
      let numbers = words.dropFirst(3).compactMap { Int($0) }
      guard numbers.count == 2 else { exit(2) }
      let death = DiesWhilePruning(bite: numbers[0], delay: .microseconds(numbers[1]))
      configuration.storeLayer = { death.layer(over: $0) }
    default: exit(2)
    }
    do {
      guard case .running(let server) = try await UpServer.start(configuration) else { exit(5) }
      say(server.readyLine.json.encodedText)
      // Until it is killed.
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    } catch {
      say("\(error)")
      exit(1)
    }
  }

  static func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(1, bytes, bytes.count)
  }
}
