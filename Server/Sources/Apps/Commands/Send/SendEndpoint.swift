import ArgumentParsing
import EventLoop
import PabalModel
import PabalPrimitives
import TLS

/// `--environment`, or `--endpoint` and `--ca`. Neither is ever guessed.
enum SendEndpoint {
  private static let certificateBytes = 1 << 20

  /// Where to, without a look at files.
  static func place(_ command: ParsedCommand) throws(UsageError) -> Endpoint {
    let environment = try command.choice(SendOptions.environment, of: PushEnvironment.self)
    guard let url = command.value(SendOptions.endpoint) else {
      guard command.value(SendOptions.ca) == nil else {
        throw UsageError("--ca goes with --endpoint: Apple's own hosts are verified by the system's certificates.")
      }
      guard let environment else {
        throw UsageError(
          "--environment is missing. A token belongs to sandbox (builds from Xcode) or production (TestFlight and "
            + "App Store); say which, or name another APNs with --endpoint URL.")
      }
      return host(environment)
    }
    guard environment == nil else { throw UsageError("Give --environment or --endpoint, not both.") }
    return try endpoint(url)
  }

  static func host(_ environment: PushEnvironment) -> Endpoint {
    switch environment {
    case .sandbox: Endpoint(host: "api.sandbox.push.apple.com", port: 443)
    case .production: Endpoint(host: "api.push.apple.com", port: 443)
    }
  }

  /// What `--ca` holds was read once, so that a file without certificates is refused by its name.
  static func trust(_ command: ParsedCommand) throws -> TLSTrust {
    guard let path = command.value(SendOptions.ca) else { return .system }
    let trust = TLSTrust.authorities(
      pem: try InputFile.contents(of: path, what: "The certificate", limit: certificateBytes))
    do {
      _ = try TLSClientContext(trust: trust)
    } catch {
      throw UsageError("--ca \(path): \(error.message)", code: error.code)
    }
    return trust
  }

  private static func endpoint(_ url: String) throws(UsageError) -> Endpoint {
    let scheme = "https://"
    guard url.hasPrefix(scheme) else {
      throw UsageError("--endpoint must start with https://, found '\(url)'. APNs speaks HTTP/2 over TLS only.")
    }
    var rest = url.dropFirst(scheme.count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard let authority = URLAuthority(rest, defaultPort: 443) else {
      throw UsageError("--endpoint must be https://HOST[:PORT] without a path, found '\(url)'.")
    }
    return Endpoint(host: authority.host, port: authority.port)
  }
}
