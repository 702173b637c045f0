import ArgumentParsing

/// Where the stand-in is that a `sim` verb means: `--control`, else `PABAL_SIM_CONTROL`, else the server as other
/// commands find it, else where `pabal sim serve` listens when it was given no port.
package struct SimPlaces: Sendable {
  package static let variable = "PABAL_SIM_CONTROL"
  package static let usualPort: UInt16 = 8432
  package static let usual = "http://127.0.0.1:\(usualPort)"

  /// The first that can be connected to is called.
  let clients: [PlainHTTPClient]
  /// The server's key goes along.
  package let hasKey: Bool

  /// - Parameters:
  ///   - control: the value of `--control`.
  ///   - profile: the file that names the server of this folder, if it is not the usual one.
  ///   - usual: the last resort.
  /// - Throws: `UsageError` for what is no address, and for a server that is named without its key.
  package init(
    control: String?, environment: [String: String], profile: String? = nil, usual: String = Self.usual
  ) throws {
    let profile = profile ?? ServerProfile.file
    let named = environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    if let url = control ?? named {
      let authority = try Self.authority(url, from: control == nil ? Self.variable : "--control")
      let server = Self.server(at: authority, environment, profile)
      clients = [server?.client ?? PlainHTTPClient(authority: authority)]
      hasKey = server != nil
      return
    }
    let standIn = PlainHTTPClient(authority: try Self.authority(usual, from: Self.variable))
    guard let server = try ServerProfile.find(environment, file: profile) else {
      (clients, hasKey) = ([standIn], false)
      return
    }
    // What a profile names may have ended since, and what was started by hand be meant.
    (clients, hasKey) = ([server.client] + (server.isWritten ? [standIn] : []), true)
  }

  /// `http://host:port` of each.
  package var addresses: [String] { clients.map { "http://\($0.place)" } }

  /// Of all, in a sentence.
  var names: String { addresses.joined(separator: " or ") }

  package var nobodyAnswers: String {
    "No stand-in answers at \(names). Start one with `pabal up` or `pabal sim serve`, or name it with --control URL or "
      + "\(Self.variable)."
  }

  private static func authority(_ url: String, from source: String) throws(UsageError) -> URLAuthority {
    let scheme = "http://"
    let rest = url.dropFirst(scheme.count)
    guard url.hasPrefix(scheme),
      let authority = URLAuthority(rest.hasSuffix("/") ? rest.dropLast() : rest, defaultPort: 80)
    else {
      throw UsageError("\(source) must be http://HOST:PORT, as `pabal sim serve` prints it; found '\(url)'.")
    }
    return authority
  }

  /// The server that other commands talk to, when this is where it is: a key goes to no other.
  private static func server(
    at authority: URLAuthority, _ environment: [String: String], _ profile: String
  ) -> ServerProfile? {
    do {
      let server = try ServerProfile.find(environment, file: profile)
      return server?.authority == authority ? server : nil
    } catch {
      // What is wrong with the profile does not matter to who names another place.
      return nil
    }
  }
}
