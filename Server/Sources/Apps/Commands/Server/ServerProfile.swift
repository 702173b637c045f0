import ArgumentParsing
import PabalPrimitives

/// Which server a command talks to, and with which key: `PABAL_SERVER` and `PABAL_KEY`, else
/// `./pabal-data/profile.json`, which `pabal up` writes. Never a file in the home folder.
struct ServerProfile: Unprintable {
  static let file = "./pabal-data/profile.json"
  private static let fileBytes = 1 << 20

  let authority: URLAuthority
  let key: String
  /// By `pabal up` into this folder, at a time when it ran.
  let isWritten: Bool

  init(environment: [String: String]) throws {
    guard let known = try Self.find(environment) else {
      throw UsageError(
        "No server is known here. Start one with `pabal up` in this folder, or set PABAL_SERVER and PABAL_KEY.")
    }
    self = known
  }

  /// `nil` when neither the environment nor a file of this folder names a server.
  static func find(_ environment: [String: String], file: String = Self.file) throws -> ServerProfile? {
    if let server = environment["PABAL_SERVER"] {
      guard let key = environment["PABAL_KEY"], !key.isEmpty else {
        throw UsageError("PABAL_SERVER is set, but PABAL_KEY is not. Set it to a secret key such as pb_test_….")
      }
      return try ServerProfile(server: server, key: key, source: "PABAL_SERVER", isWritten: false)
    }
    let bytes: [UInt8]
    do {
      bytes = try InputFile.contents(of: file, what: "The profile", limit: fileBytes)
    } catch {
      return nil
    }
    let damaged = UsageError("\(file) cannot be read. Restart `pabal up` to have it written again.")
    let root: JSONSlice
    do {
      root = try JSONSlice(parsing: bytes)
    } catch {
      throw damaged
    }
    guard let server = root["server"]?.string, let key = root["testKey"]?.string else { throw damaged }
    return try ServerProfile(server: server, key: key, source: file, isWritten: true)
  }

  private init(server: String, key: String, source: String, isWritten: Bool) throws(UsageError) {
    guard !server.hasPrefix("https://") else {
      throw UsageError("\(source) names an https server, which is not built yet. Use http on this machine.")
    }
    let scheme = "http://"
    let rest = server.hasSuffix("/") ? server.dropFirst(scheme.count).dropLast() : server.dropFirst(scheme.count)
    guard server.hasPrefix(scheme), let authority = URLAuthority(rest, defaultPort: 80) else {
      throw UsageError("\(source) must name a server such as http://127.0.0.1:8420, found '\(server)'.")
    }
    // It becomes a header line.
    guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw UsageError("The key from \(source) has blanks or foreign characters. Copy it again.")
    }
    self.authority = authority
    self.key = key
    self.isWritten = isWritten
  }

  /// Calls with the key.
  var client: PlainHTTPClient {
    PlainHTTPClient(authority: authority, headers: ["Authorization: Bearer \(key)"])
  }
}
