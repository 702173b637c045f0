import EventLoop
import PabalModel
import PabalPrimitives

/// The ready line of a stand-in: all that this server knows of it, whether it runs in this process or elsewhere.
struct SimulatorLine: Sendable {
  let sandbox: Endpoint
  let production: Endpoint
  let caFile: String
  let keyFile: String
  let keyID: String
  let teamID: String
  let topic: Topic
  let control: Endpoint
  /// `{"apns":{…},"control":"…"}` as it came.
  let published: JSONValue

  /// - Parameter text: one JSON object; what follows the first line is ignored.
  init(parsing text: String) throws(UpError) {
    let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    let root: JSONSlice
    do {
      root = try JSONSlice(parsing: Array(line.utf8))
    } catch {
      throw UpError(
        .simulator, "The simulator file does not hold the ready line of pabal sim serve --json.", cause: error)
    }
    guard let apns = root["apns"] else { throw Self.missing("apns") }
    sandbox = try Self.endpoint(apns, "sandbox")
    production = try Self.endpoint(apns, "production")
    caFile = try Self.text(apns, "caFile")
    keyFile = try Self.text(apns, "keyFile")
    keyID = try Self.text(apns, "keyId")
    teamID = try Self.text(apns, "teamId")
    topic = Topic(rawValue: try Self.text(apns, "topic"))
    control = try Self.endpoint(root, "control")
    published = ["apns": JSONValue(apns), "control": JSONValue(root["control"]?.string)]
  }

  private static func missing(_ name: String) -> UpError {
    UpError(.simulator, "The simulator's ready line has no \(name). Start it with pabal sim serve --json.")
  }

  private static func text(_ object: JSONSlice, _ name: String) throws(UpError) -> String {
    guard let text = object[name]?.string else { throw missing(name) }
    return text
  }

  /// Reads `scheme://host:port`.
  private static func endpoint(_ object: JSONSlice, _ name: String) throws(UpError) -> Endpoint {
    let url = try text(object, name)
    guard let endpoint = Endpoint(url: url) else {
      throw UpError(
        .simulator,
        "The simulator's \(name) is not an address such as https://127.0.0.1:8421. Use the ready line of pabal sim "
          + "serve --json as it is.")
    }
    return endpoint
  }
}

extension Endpoint {
  /// Reads `scheme://host:port` and nothing more.
  init?(url: String) {
    guard let scheme = url.utf8.firstIndex(of: UInt8(ascii: ":")), url[scheme...].hasPrefix("://") else { return nil }
    let address = url[url.index(scheme, offsetBy: 3)...]
    guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...])
    else { return nil }
    var host = String(address[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    guard !host.isEmpty else { return nil }
    self.init(host: host, port: port)
  }
}
