import HTTPServer
import PabalPrimitives

extension StandInControl {
  func listInbox(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let query = try ControlQuery(request, known: ["device", "token", "limit", "cursor"])
    let chosen = try device(query)
    if case .none = chosen { return ControlOutput.list([], next: nil) }
    let (limit, cursor) = (try query.limit(), try query.cursor())
    var id: String?
    if case .one(let device) = chosen { id = device }
    let device = id
    let (found, dropped) = core.withLock { core in
      (core.pushes(device: device, after: cursor, limit: limit + 1), core.pushesDropped)
    }
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last?.push.sequence : nil
    let items = page.map { ControlOutput.inboxItem($0.push, of: $0.device) }
    return ControlOutput.list(items, next: next, extra: [JSONMember("dropped", .int(Int64(dropped)))])
  }

  func listRequests(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let known = ["device", "token", "connection", "status", "reason", "since", "limit", "cursor"]
    let query = try ControlQuery(request, known: known)
    let chosen = try device(query)
    let connection = try query.number("connection", 1...Int.max)
    let status = try query.number("status", 100...599)
    let since = try query.number("since", 0...Int.max).map(Int64.init)
    let reason = query.text("reason")
    let (limit, cursor) = (try query.limit(), try query.cursor())
    let (found, dropped) = core.withLock { core in
      let found = core.requests(after: cursor, limit: limit + 1) { entry in
        switch chosen {
        case .all: break
        case .one(let id): guard entry.device == id else { return false }
        case .none: return false
        }
        if let connection, entry.connection.rawValue != connection { return false }
        if let status, entry.status != status { return false }
        if let reason, entry.reason != reason { return false }
        if let since, entry.at < since { return false }
        return true
      }
      return (found, core.requestsDropped)
    }
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last?.sequence : nil
    return ControlOutput.list(
      page.map { ControlOutput.request($0) }, next: next, extra: [JSONMember("dropped", .int(Int64(dropped)))])
  }

  func getStats(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    _ = try ControlQuery(request, known: [])
    return .json(200, core.withLock { ControlOutput.statistics($0) })
  }

  private enum Chosen {
    case all
    case one(String)
    case none
  }

  /// `?device=` or `?token=`; one that does not exist chooses nothing.
  private func device(_ query: ControlQuery) throws(APIError) -> Chosen {
    if let id = query.text("device") {
      guard query.text("token") == nil else { throw APIError.invalid("token", "does not go with device") }
      return .one(id)
    }
    guard let text = query.text("token") else { return .all }
    let token = try ControlBody.token(text, "token")
    return core.withLock { $0.device(token: token)?.id }.map { .one($0) } ?? .none
  }
}
