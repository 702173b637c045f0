import HTTPServer
import PabalPrimitives

/// Where a list goes on: the last member that was shown. Opaque to callers, and of no use for another list.
///
/// Positions are ids, so a cursor stays good while the list grows.
struct ListCursor: Sendable, Equatable {
  /// A list that somebody left a day ago is begun anew.
  static let lifetime = Duration.seconds(86_400)

  let list: String
  let last: String
  let issuedAt: WallTime

  var text: String {
    let value: JSONValue = ["l": .string(list), "k": .string(last), "t": .int(issuedAt.seconds)]
    return Base64URL.encode(value.encoded)
  }

  /// - Throws: `parameter_invalid`, `cursor_expired`.
  init(_ text: String, of list: String, now: WallTime) throws(APIError) {
    let root: JSONSlice? = Base64URL.decode(text).flatMap { bytes in
      do { return try JSONSlice(parsing: bytes) } catch { return nil }
    }
    guard let root, let found = root["l"]?.string, let last = root["k"]?.string, let time = root["t"]?.int,
      found == list
    else {
      throw .invalid(
        "cursor", "is none of this list", hint: "Take nextCursor of the page before, with the same filters.")
    }
    issuedAt = WallTime(seconds: Int64(time))
    guard issuedAt.duration(to: now) <= Self.lifetime else {
      throw Self.expired("The cursor is more than a day old.")
    }
    self.list = list
    self.last = last
  }

  static func expired(_ message: String) -> APIError {
    APIError(
      400, .invalidRequest, "cursor_expired", message, parameter: "cursor", hint: "Begin the list again without one.")
  }

  init(list: String, last: String, issuedAt: WallTime) {
    self.list = list
    self.last = last
    self.issuedAt = issuedAt
  }
}

/// What a caller asked for of a list.
struct ListQuery: Sendable {
  static let limits = 1...200
  static let usualLimit = 25

  /// The list and its filters, as the cursor names them.
  let list: String
  let limit: Int
  /// The last member of the page before.
  let after: String?

  /// Reads `limit` and `cursor`, and refuses arguments that are neither these nor `filters`.
  init(_ request: HTTPRequest, filters: [String] = [], now: WallTime) throws(APIError) {
    try PushAPI.allowQuery(request, Set(filters + ["limit", "cursor"]))
    let values = filters.map { "\($0)=\(request.queryValue($0) ?? "")" }
    let list = ([request.path] + values).joined(separator: "&")
    self.list = list
    if let text = request.queryValue("limit") {
      guard let number = Int(text), Self.limits.contains(number) else {
        throw .invalid("limit", "must be a number from \(Self.limits.lowerBound) to \(Self.limits.upperBound)")
      }
      limit = number
    } else {
      limit = Self.usualLimit
    }
    after = try request.queryValue("cursor").map { text throws(APIError) in
      try ListCursor(text, of: list, now: now).last
    }
  }

  static let parameters = [
    RouteOperation.Parameter(
      "limit", in: .query, "How many at most",
      schema: [
        "type": "integer", "minimum": .int(Int64(limits.lowerBound)), "maximum": .int(Int64(limits.upperBound)),
        "default": .int(Int64(usualLimit)),
      ]),
    RouteOperation.Parameter("cursor", in: .query, "`nextCursor` of the page before, with the same filters"),
  ]
}

extension PushAPI {
  /// One page of a list.
  ///
  /// - Parameter members: one more than `query.limit`, if there are so many.
  func page<Member>(
    _ members: [Member], _ query: ListQuery, url: String, id: (Member) -> String, value: (Member) -> JSONValue
  ) -> HTTPResponse {
    let shown = members.prefix(query.limit)
    let last = members.count > query.limit ? shown.last.map(id) : nil
    let next = last.map { ListCursor(list: query.list, last: $0, issuedAt: now).text }
    return .json(
      200,
      [
        "object": "list", "url": .string(url), "hasMore": .bool(next != nil), "nextCursor": JSONValue(next),
        "data": .array(shown.map(value)),
      ])
  }
}
