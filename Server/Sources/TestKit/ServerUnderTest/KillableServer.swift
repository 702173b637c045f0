import PabalPrimitives
import PabalServer

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// `ServerUnderTest DATA SIMULATOR-FILE [sends-before-marking]`: `pabal up` for a test that kills it.
@main
enum KillableServer {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count >= 2 else { exit(2) }
    var configuration = UpConfiguration(folder: .kept(words[0]), port: 0, simulatorFile: words[1])
    if words.dropFirst(2).first == "sends-before-marking" {
      configuration.storeLayer = SendsBeforeMarking.layer
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

  private static func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(1, bytes, bytes.count)
  }
}
