import ArgumentParsing
import PabalPrimitives

/// Calls of the `sim` verbs to the control API of a stand-in.
struct SimClient: Sendable {
  static let control = OptionDefinition(
    "control", .value("URL"), "control API of the stand-in; default: PABAL_SIM_CONTROL, else http://127.0.0.1:8432")
  static let json = OptionDefinition("json", .optionalValue("FIELDS"), "the API's own object")
  static let limit = OptionDefinition("limit", .value("N"), "at most so many, 1 to 1000; default 100")
  static let cursor = OptionDefinition("cursor", .value("CURSOR"), "go on where an earlier list ended")

  private static let variable = "PABAL_SIM_CONTROL"
  private static let usual = "http://127.0.0.1:8432"
  private static let prefix = "/v1/simulator"

  private let http: PlainHTTPClient

  init(_ command: ParsedCommand, _ context: CommandContext) throws(UsageError) {
    let named = context.environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    let url = command.value(Self.control) ?? named ?? Self.usual
    let scheme = "http://"
    let rest = url.dropFirst(scheme.count)
    guard url.hasPrefix(scheme),
      let authority = URLAuthority(rest.hasSuffix("/") ? rest.dropLast() : rest, defaultPort: 80)
    else {
      let source = command.isSet(Self.control) ? "--control" : Self.variable
      throw UsageError("\(source) must be http://HOST:PORT, as `pabal sim serve` prints it; found '\(url)'.")
    }
    http = PlainHTTPClient(authority: authority)
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
    let answer: PlainHTTPClient.Answer
    do throws(PlainHTTPFailure) {
      answer = try await http.call(method, target, body: body)
    } catch {
      throw unreachable(error)
    }
    guard (200...299).contains(answer.status) else { throw ServerError(status: answer.status, body: answer.json) }
    return answer.json
  }

  /// A list as the flags ask for it.
  func list(
    _ path: String, _ command: ParsedCommand, query: [(String, String?)] = []
  ) async throws -> JSONSlice {
    let limit = try command.integer(Self.limit, in: 1...1000).map(String.init)
    let page = [("limit", limit), ("cursor", command.value(Self.cursor))]
    guard let list = try await call("GET", path, query: query + page) else {
      throw ServerError("answer_malformed", "What answers at http://\(http.place) is no stand-in.", .failure)
    }
    return list
  }

  private func unreachable(_ failure: PlainHTTPFailure) -> ServerError {
    switch failure {
    case .unreachable, .silent, .malformed:
      ServerError(
        "simulator_unreachable",
        "No stand-in answers at http://\(http.place). Start one with `pabal sim serve`, or name it with --control URL "
          + "or \(Self.variable).", .unreachable)
    case .tooLong:
      ServerError("answer_too_long", "The answer is too long; ask for less with --limit.", .failure)
    }
  }
}
