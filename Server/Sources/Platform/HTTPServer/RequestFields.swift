package import PabalPrimitives

/// Reads the members of a JSON object by name and refuses what nobody asked for: a misspelt member must not vanish.
///
///     var fields = try RequestFields(request)
///     let user = try fields.requiredString("userId")
///     try fields.finish()
package struct RequestFields: Sendable {
  private let object: JSONSlice?
  private let path: String
  private var asked: Set<String> = []

  /// The body of a request. An empty body reads as an object without members.
  package init(_ request: HTTPRequest) throws(APIError) {
    if let type = request.header("content-type"), !request.body.isEmpty {
      let media = type.split(separator: ";").first.map { $0.filter { $0 != " " }.lowercased() } ?? ""
      guard media == "application/json" else {
        throw APIError(
          415, .invalidRequest, "content_type", "The body must be application/json.", parameter: "Content-Type")
      }
    }
    path = ""
    guard !request.body.isEmpty else {
      object = nil
      return
    }
    let value: JSONSlice
    do {
      value = try JSONSlice(parsing: request.body)
    } catch {
      throw .malformedJSON(error)
    }
    guard value.kind == .object else {
      throw APIError(
        400, .invalidRequest, "parameter_invalid", "The body must be a JSON object: {…}.", parameter: "body")
    }
    object = value
  }

  /// A member that is itself an object; `path` leads to it, as `to` in `to.userIds`.
  package init(_ value: JSONSlice, path: String) throws(APIError) {
    guard value.kind == .object else { throw .invalid(path, "must be a JSON object") }
    object = value
    self.path = path
  }

  /// The full name of a member, for errors.
  package func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// The member as it is, `null` included; nil when absent.
  package mutating func raw(_ key: String) -> JSONSlice? {
    asked.insert(key)
    return object?[key]
  }

  /// The member; nil when absent or `null`.
  package mutating func value(_ key: String) -> JSONSlice? {
    guard let value = raw(key), !value.isNull else { return nil }
    return value
  }

  /// A string; nil when absent or `null`.
  package mutating func string(_ key: String) throws(APIError) -> String? {
    guard let value = value(key) else { return nil }
    guard let text = value.string else { throw .invalid(name(key), "must be a string") }
    return text
  }

  /// A string that is there and not empty.
  package mutating func requiredString(_ key: String) throws(APIError) -> String {
    guard let text = try string(key), !text.isEmpty else { throw .missing(name(key)) }
    return text
  }

  /// A whole number; `1.5`, `"5"` and `5.0` are none.
  package mutating func int(_ key: String) throws(APIError) -> Int? {
    guard let value = value(key) else { return nil }
    guard let number = value.int else { throw .invalid(name(key), "must be a whole number") }
    return number
  }

  /// `true` or `false`; nil when absent or `null`.
  package mutating func bool(_ key: String) throws(APIError) -> Bool? {
    guard let value = value(key) else { return nil }
    guard let flag = value.bool else { throw .invalid(name(key), "must be true or false") }
    return flag
  }

  /// A number; nil when absent or `null`.
  package mutating func double(_ key: String) throws(APIError) -> Double? {
    guard let value = value(key) else { return nil }
    guard let number = value.double else { throw .invalid(name(key), "must be a number") }
    return number
  }

  /// An array's elements; nil when absent or `null`.
  package mutating func array(_ key: String) throws(APIError) -> [JSONSlice]? {
    guard let value = value(key) else { return nil }
    guard value.kind == .array else { throw .invalid(name(key), "must be an array") }
    return value.elements
  }

  /// An object's members, whose names in errors begin with this one's; nil when absent or `null`.
  package mutating func object(_ key: String) throws(APIError) -> RequestFields? {
    guard let value = value(key) else { return nil }
    return try RequestFields(value, path: name(key))
  }

  /// The names of members that nobody asked for yet.
  package var unasked: [String] {
    (object?.members ?? []).map(\.name).filter { !asked.contains($0) }
  }

  /// Refuses the first member that nobody asked for.
  package func finish() throws(APIError) {
    guard let unknown = unasked.first else { return }
    throw .unknown(name(unknown), known: asked.map(name))
  }
}
