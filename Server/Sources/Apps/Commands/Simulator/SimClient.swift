import ArgumentParsing
package import PabalPrimitives

/// Calls of the `sim` verbs to a stand-in: at its control API, or at the API of the server that it belongs to.
package struct SimClient: Sendable {
  static let control = OptionDefinition(
    "control", .value("URL"),
    "where the stand-in is controlled; default: \(SimPlaces.variable), else the server as other commands find it, "
      + "else \(SimPlaces.usual)")
  static let json = OptionDefinition("json", .optionalValue("FIELDS"), "the API's own object")
  static let limit = OptionDefinition("limit", .value("N"), "at most so many, 1 to 1000; default 100")
  static let cursor = OptionDefinition("cursor", .value("CURSOR"), "go on where an earlier list ended")

  private static let prefix = "/v1/simulator"

  private let places: SimPlaces

  init(_ command: ParsedCommand, _ context: CommandContext) throws {
    self.init(try SimPlaces(control: command.value(Self.control), environment: context.environment))
  }

  package init(_ places: SimPlaces) {
    self.places = places
  }

  /// The body of a 2xx answer; `nil` when there is none.
  ///
  /// - Parameter query: members without a value are left out.
  /// - Throws: `ServerError` in the stand-in's own words, exit code 7 when nobody answers.
  @discardableResult
  package func call(
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
    for place in places.clients {
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
    guard answer.status == 401, !places.hasKey else { return error }
    return ServerError(
      error.code,
      "\(error.message) This is a server's API: set PABAL_SERVER to \(places.names) and PABAL_KEY to its "
        + "secret key.", error.exitCode)
  }

  /// A list as the flags ask for it.
  func list(
    _ path: String, _ command: ParsedCommand, query: [(String, String?)] = []
  ) async throws -> JSONSlice {
    let limit = try command.integer(Self.limit, in: 1...1000).map(String.init)
    let page = [("limit", limit), ("cursor", command.value(Self.cursor))]
    guard let list = try await call("GET", path, query: query + page) else {
      throw ServerError("answer_malformed", "What answers at \(places.names) is no stand-in.", .failure)
    }
    return list
  }

  private func unreachable(_ failure: PlainHTTPFailure) -> ServerError {
    switch failure {
    case .unreachable, .silent, .malformed:
      ServerError("simulator_unreachable", places.nobodyAnswers, .unreachable)
    case .tooLong:
      ServerError("answer_too_long", "The answer is too long; ask for less with --limit.", .failure)
    }
  }
}
