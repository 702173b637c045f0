import Foundation
import PabalCore
import PabalPrimitives

/// Pabal's server as far as an app can tell: keeps what it is sent, answers as told.
final class ScriptedServer: Sendable {
  struct Call: Sendable {
    let method: String
    let path: String
    let query: String
    let headers: [String: String]
    let body: JSONSlice
  }

  private struct State {
    var calls: [Call] = []
    var isReachable = true
    var statuses: [String: Int] = [:]
    /// Whole answers, each given once.
    var answers: [String: String] = [:]
    var preferences: [String: Bool] = ["marketing": true, "message": true, "talentRequest": true, "review": true]
  }

  private let state = Locked(State())

  var http: HTTPClient {
    HTTPClient(
      send: { try self.answer($0) },
      download: { _ in throw HTTPFailure(.unreachable) })
  }

  var calls: [Call] { state.withLock { $0.calls } }
  var registrations: [JSONSlice] { calls.filter { $0.path == "/v1/devices" }.map(\.body) }

  /// Every event of every accepted batch, as `kind` or `kind:action`.
  var events: [String] {
    calls.filter { $0.path == "/v1/events" }.flatMap { $0.body["events"]?.elements ?? [] }.map { event in
      let kind = event["kind"]?.string ?? "?"
      return event["action"]?.string.map { "\(kind):\($0)" } ?? kind
    }
  }

  var eventIDs: [String] {
    calls.filter { $0.path == "/v1/events" }.flatMap { $0.body["events"]?.elements ?? [] }
      .compactMap { $0["eventId"]?.string }
  }

  func setReachable(_ isReachable: Bool) {
    state.withLock { $0.isReachable = isReachable }
  }

  func answer(_ path: String, with status: Int?) {
    state.withLock { $0.statuses[path] = status }
  }

  func answerOnce(_ path: String, _ body: String) {
    state.withLock { $0.answers[path] = body }
  }

  private func answer(_ call: HTTPCall) throws -> HTTPAnswer {
    let body = try JSONSlice(parsing: call.body ?? Array("{}".utf8))
    return try state.withLock { state in
      guard state.isReachable else { throw HTTPFailure(.unreachable, number: -1004) }
      if let status = state.statuses[call.url.path] {
        return HTTPAnswer(status: status, body: Array(#"{"error":{"code":"scripted","message":"as told"}}"#.utf8))
      }
      state.calls.append(
        Call(
          method: call.method, path: call.url.path, query: call.url.query ?? "", headers: call.headers, body: body))
      if let body = state.answers.removeValue(forKey: call.url.path) {
        return HTTPAnswer(status: 200, body: Array(body.utf8))
      }
      switch call.url.path {
      case "/v1/devices":
        let isFirst = state.calls.filter { $0.path == "/v1/devices" }.count == 1
        let secret = isFirst ? #","installSecret":"s3cret""# : ""
        return HTTPAnswer(
          status: 200, body: Array("{\"id\":\"dev_1\",\"status\":\"created\"\(secret)}".utf8))
      case "/v1/events":
        let count = body["events"]?.elements.count ?? 0
        return HTTPAnswer(
          status: 202, body: Array("{\"accepted\":\(count),\"duplicates\":0,\"rejected\":[]}".utf8))
      case "/notification-preferences":
        for member in body.members { state.preferences[member.name] = member.value.bool }
        let members = state.preferences.sorted { $0.key < $1.key }.map { JSONMember($0.key, .bool($0.value)) }
        let answer: JSONValue = ["success": true, "preferences": .object(members)]
        return HTTPAnswer(status: 200, body: answer.encoded)
      default:
        return HTTPAnswer(status: 404)
      }
    }
  }
}
