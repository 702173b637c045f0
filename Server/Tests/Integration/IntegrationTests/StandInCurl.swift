import Cryptography
import PabalPrimitives
import Simulator
import TestSupport

/// A running stand-in with one device, and curl as its client: a peer that nobody here wrote.
final class StandInCurl: Sendable {
  struct Reply: Sendable {
    let status: Int
    let headers: [String: String]
    let body: String

    var json: JSONSlice? {
      do { return try JSONSlice(parsing: Array(body.utf8)) } catch { return nil }
    }
    var reason: String? { json?["reason"]?.string }
  }

  struct NoReply: Error {
    let code: Int
    let errors: String
  }

  static let topic = "com.example.app"
  static let good = ["apns-topic: \(topic)", "apns-push-type: alert"]
  static let payload = #"{"aps":{"alert":"hello"}}"#

  let folder: TemporaryFolder
  let standIn: StandIn
  let device: StandInDevice
  /// One provider token for all pushes that name no other.
  let bearer: String

  init(_ change: (inout StandInConfiguration) -> Void = { _ in }) async throws {
    folder = try TemporaryFolder()
    var configuration = StandInConfiguration(dataFolder: folder.path)
    configuration.topic = Self.topic
    configuration.deviceCount = 1
    change(&configuration)
    standIn = try await StandIn.start(configuration)
    device = standIn.readyLine.devices[0]
    bearer = try Self.bearer(standIn.readyLine)
  }

  var path: String { "/3/device/\(Hex.encode(device.token))" }

  static func key(_ id: String, _ key: P256SigningKey, team: String, scope: StandInKey.Scope = .team) -> StandInKey {
    StandInKey(keyID: id, teamID: team, scope: scope) { message, signature in
      key.publicKey.isValid(signature: signature, for: message)
    }
  }

  /// Signs with the key file of the ready line, as any provider would.
  static func bearer(
    _ line: StandInReadyLine, kid: String? = nil, team: String? = nil, age: Int64 = 0, by key: P256SigningKey? = nil
  ) throws -> String {
    let key = try key ?? P256SigningKey(pem: try TestFiles.read(line.keyFile))
    let issued = Clock.system.wall().seconds - age
    let head = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(kid ?? line.keyID)"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"\#(team ?? line.teamID)","iat":\#(issued)}"#.utf8))
    return "bearer \(head).\(claims)." + Base64URL.encode(try key.sign(Array("\(head).\(claims)".utf8)))
  }

  /// The arguments of one push; several joined by `--next` share a connection.
  func arguments(
    _ path: String? = nil, method: String = "POST", headers: [String] = good, authorization: String?,
    body: String = payload, production: Bool = false
  ) -> [String] {
    let host = production ? standIn.readyLine.production : standIn.readyLine.sandbox
    let all = headers + (authorization.map { ["authorization: \($0)"] } ?? [])
    return ["--http2", "--silent", "--show-error", "--cacert", standIn.readyLine.caFile, "--include", "-X", method]
      + all.flatMap { ["-H", $0] } + ["--data-binary", body, host + (path ?? self.path)]
  }

  func push(
    _ path: String? = nil, method: String = "POST", headers: [String] = good, authorization: String? = "",
    body: String = payload, production: Bool = false
  ) async throws -> Reply {
    let authorization = authorization.map { $0.isEmpty ? bearer : $0 }
    let result = try await Self.curl(
      arguments(
        path, method: method, headers: headers, authorization: authorization, body: body, production: production))
    guard let reply = Self.replies(result.output).first else {
      throw NoReply(code: result.code, errors: result.errors)
    }
    return reply
  }

  static func curl(_ arguments: [String]) async throws -> ChildProcess.Result {
    try await ChildProcess.run("/usr/bin/curl", arguments, environment: ["PATH": "/usr/bin:/bin", "HOME": "/"])
  }

  /// The replies of `--include`, each headers, a blank line, body.
  static func replies(_ output: String) -> [Reply] {
    output.split(separator: "HTTP/2 ").map { text in
      let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
      let lines = parts[0].split(separator: "\r\n").map(String.init)
      var headers: [String: String] = [:]
      for line in lines.dropFirst() {
        let pair = line.split(separator: ":", maxSplits: 1)
        if pair.count == 2 { headers[String(pair[0])] = pair[1].trimmed }
      }
      return Reply(
        status: Int((lines.first ?? "").trimmed) ?? 0, headers: headers, body: parts.count > 1 ? String(parts[1]) : "")
    }
  }

  /// A call of the control API.
  func control(
    _ method: String, _ path: String, _ body: String? = nil, _ further: [String] = []
  ) async throws -> (status: Int, json: JSONSlice?) {
    let address = (standIn.readyLine.control ?? "") + "/v1/simulator" + path
    let sent = body.map { ["--data-binary", $0, "-H", "content-type: application/json"] } ?? []
    let result = try await Self.curl(
      ["--silent", "--show-error", "-X", method, "--write-out", "\n%{http_code}"] + sent + further + [address])
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
    let text = lines.dropLast().joined(separator: "\n")
    return (Int(lines.last ?? "") ?? 0, text.isEmpty ? nil : try JSONSlice(parsing: Array(text.utf8)))
  }
}

extension StringProtocol {
  var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " || $0 == "\r" }.reversed())
  }
}
