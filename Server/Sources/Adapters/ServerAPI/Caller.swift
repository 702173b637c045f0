import HTTPServer

/// Who is asking, as far as the request proves it.
enum Caller: Sendable, Equatable {
  /// Holds the app's secret key: its backend, or its operator.
  case secret
  /// Holds the publishable key: an install of the app.
  case publishable
  /// Holds no key of ours. The guide's clients send their own backend's token, or nothing; with `identity: open` they
  /// are believed on the routes that the guide gives them.
  case open
}

/// Who may use a route.
enum Access: Sendable {
  /// No key is looked at.
  case anyone
  /// The guide's clients, with or without a key of ours.
  case guideClient
  /// Installs of the app and its backend.
  case publishable
  /// The app's backend.
  case secret

  /// The security schemes of the OpenAPI document.
  var schemes: [String] {
    switch self {
    case .anyone, .guideClient: []
    case .publishable: ["publishableKey", "secretKey"]
    case .secret: ["secretKey"]
    }
  }
}

extension APIKeys {
  /// Reads `Authorization: KEY` and `Authorization: Bearer KEY`; the guide's client writes the first form.
  func caller(_ request: HTTPRequest, for access: Access) throws(APIError) -> Caller {
    if case .anyone = access { return .open }
    guard let key = Self.key(request.header("authorization")) else {
      return try open(
        access, code: "key_missing",
        access == .publishable
          ? "This call needs a key: Authorization: Bearer pp_test_… from an app, pb_test_… from a backend."
          : "This call needs a key: Authorization: Bearer pb_test_….")
    }
    guard Self.looksLikeOurs(key) else {
      return try open(
        access, code: "key_invalid", "Authorization holds no key of this server; they begin with pb_test_ or pp_test_.")
    }
    if Self.equal(key, secret) { return .secret }
    guard Self.equal(key, publishable) else {
      throw Self.unauthorized(
        "key_invalid",
        key.contains("_live_")
          ? "Live keys do not exist here yet; use the test key." : "This server does not know the key.")
    }
    if case .secret = access {
      throw APIError(
        403, .permission, "scope_missing", "This call needs the secret key; a publishable key ships in apps.",
        hint: "Call it from your backend with pb_test_….")
    }
    return .publishable
  }

  private func open(_ access: Access, code: String, _ message: String) throws(APIError) -> Caller {
    if case .guideClient = access { return .open }
    throw Self.unauthorized(code, message)
  }

  private static func unauthorized(_ code: String, _ message: String) -> APIError {
    APIError(
      401, .authentication, code, message,
      hint: "pabal up prints the keys when it starts; they stand in profile.json of its data folder.",
      headers: [HTTPField("WWW-Authenticate", "Bearer")])
  }

  private static func key(_ header: String?) -> String? {
    guard let header else { return nil }
    let words = header.split(separator: " ")
    if words.count == 2, words[0].lowercased() == "bearer" { return String(words[1]) }
    return words.isEmpty ? nil : header
  }

  /// Whatever claims to be a key of ours must be right; anything else is the app's own token.
  private static func looksLikeOurs(_ key: String) -> Bool {
    ["pb_test_", "pb_live_", "pp_test_", "pp_live_"].contains { key.hasPrefix($0) }
  }

  /// Takes the same time wherever the two differ, so that an answer's delay does not spell the key.
  private static func equal(_ given: String, _ expected: String) -> Bool {
    let given = Array(given.utf8)
    let expected = Array(expected.utf8)
    var difference = given.count ^ expected.count
    for index in expected.indices {
      difference |= Int((index < given.count ? given[index] : 0) ^ expected[index])
    }
    return difference == 0
  }
}
