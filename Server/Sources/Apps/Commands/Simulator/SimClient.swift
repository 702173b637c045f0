import ArgumentParsing
import PabalPrimitives

/// Calls of the `sim` verbs to a stand-in: at its control API, or at the API of the server that it belongs to.
struct SimClient: Sendable {
  static let control = OptionDefinition(
    "control", .value("URL"),
    "where the stand-in is controlled; default: PABAL_SIM_CONTROL, else the server as other commands find it, else "
      + "http://127.0.0.1:8432")
  static let json = OptionDefinition("json", .optionalValue("FIELDS"), "the API's own object")
  static let limit = OptionDefinition("limit", .value("N"), "at most so many, 1 to 1000; default 100")
  static let cursor = OptionDefinition("cursor", .value("CURSOR"), "go on where an earlier list ended")

  private static let variable = "PABAL_SIM_CONTROL"
  private static let usual = "http://127.0.0.1:8432"
  private static let prefix = "/v1/simulator"

  /// The first that can be connected to is called.
  private let places: [PlainHTTPClient]
  /// The server's key goes along.
  private let hasKey: Bool

  init(_ command: ParsedCommand, _ context: CommandContext) throws {
    let named = context.environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    guard let url = command.value(Self.control) ?? named else {
      (places, hasKey) = try Self.usualPlaces(context.environment)
      return
    }
    let authority = try Self.authority(url, from: command.isSet(Self.control) ? "--control" : Self.variable)
    let server = Self.server(at: authority, context.environment)
    places = [server?.client ?? PlainHTTPClient(authority: authority)]
    hasKey = server != nil
  }

  /// What a profile names may have ended since, and what was started by hand be meant.
  private static func usualPlaces(_ environment: [String: String]) throws -> ([PlainHTTPClient], hasKey: Bool) {
    let standIn = PlainHTTPClient(authority: try authority(usual, from: variable))
    guard let server = try ServerProfile.find(environment) else { return ([standIn], false) }
    return ([server.client] + (server.isWritten ? [standIn] : []), true)
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
  private static func server(at authority: URLAuthority, _ environment: [String: String]) -> ServerProfile? {
    do {
      let server = try ServerProfile.find(environment)
      return server?.authority == authority ? server : nil
    } catch {
      // What is wrong with the profile does not matter to who names another place.
      return nil
    }
  }

  /// The body of a 2xx answer; `nil` when there is none.
  ///
  /// - Parameter query: members without a value are left out.
  /// - Throws: `ServerError` in the stand-in's own words, exit code 7 when nobody answers.
  @discardableResult
  func call(
    _ method: String, _ path: String, query: [(String, String?)] = [], body: JSONValue? = nil
  ) async throws -> JSONSlice? {
    let pairs = query.compactMap { name, value in value.map { "\(name)=\(PlainHTTPClient.escape($0))" } }
    let target = Self.prefix + path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    let answer = try await answer(method, target, body)
    guard (200...299).contains(answer.status) else { throw refusal(answer) }
    return answer.json
  }

  private func answer(_ method: String, _ target: String, _ body: JSONValue?) async throws -> PlainHTTPClient.Answer {
    var failure = PlainHTTPFailure.unreachable
    for place in places {
      do throws(PlainHTTPFailure) {
        return try await place.call(method, target, body: body)
      } catch {
        failure = error
        guard case .unreachable = error else { break }
      }
    }
    throw unreachable(failure)
  }

  private func refusal(_ answer: PlainHTTPClient.Answer) -> ServerError {
    let error = ServerError(status: answer.status, body: answer.json)
    guard answer.status == 401, !hasKey else { return error }
    return ServerError(
      error.code,
      "\(error.message) This is a server's API: set PABAL_SERVER to http://\(names) and PABAL_KEY to its "
        + "secret key.", error.exitCode)
  }

  private var names: String { places.map(\.place).joined(separator: " or http://") }

  /// A list as the flags ask for it.
  func list(
    _ path: String, _ command: ParsedCommand, query: [(String, String?)] = []
  ) async throws -> JSONSlice {
    let limit = try command.integer(Self.limit, in: 1...1000).map(String.init)
    let page = [("limit", limit), ("cursor", command.value(Self.cursor))]
    guard let list = try await call("GET", path, query: query + page) else {
      throw ServerError("answer_malformed", "What answers at http://\(names) is no stand-in.", .failure)
    }
    return list
  }

  private func unreachable(_ failure: PlainHTTPFailure) -> ServerError {
    switch failure {
    case .unreachable, .silent, .malformed:
      ServerError(
        "simulator_unreachable",
        "No stand-in answers at http://\(names). Start one with `pabal up` or `pabal sim serve`, or name it with "
          + "--control URL or \(Self.variable).", .unreachable)
    case .tooLong:
      ServerError("answer_too_long", "The answer is too long; ask for less with --limit.", .failure)
    }
  }
}
