import HTTPServer
import PabalPrimitives
import Simulator

/// A call of the stand-in's control API: `PUT /faults`, a line end, then the body.
enum ControlFuzz {
  private static let prefix = "/v1/simulator"

  static func run(_ bytes: [UInt8]) async throws {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 1)
    guard words.count == 2, let method = HTTPMethod(rawValue: String(words[0])),
      let request = try? HTTPRequest(
        method, prefix + String(words[1]), body: Array(bytes.dropFirst(line.count + 1)))
    else { return }
    var core = StandInCore(
      keys: [], bundles: ["com.example.app"], clock: .system, randomness: .seeded(1), digest: { _ in "" })
    var device = StandInDeviceDraft(topic: "com.example.app")
    device.id = "d1"
    device.token = [0xAB, 0xCD]
    _ = try core.addDevice(device)
    let control = StandInControl(
      core: Locked(core), links: LinkBoard(), topic: "com.example.app", act: { _ in }, wait: { _ in })
    let router = Router(control.routes(prefix: prefix))
    let response = await router.respond(to: request)
    try demand((200..<500).contains(response.status), "a call is answered or refused, never a fault of the server")
  }
}
