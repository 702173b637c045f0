import HTTPServer
import PabalModel
import PabalPrimitives
import Storage

extension PushAPI {
  var preferenceRoutes: [Route] {
    let user = RouteOperation.Parameter(
      "userId", in: .query, "Whose; needed as long as calls name no user by a signed token", required: true)
    let reply = [RouteOperation.Reply(200, "The whole set", schema: Schemas.reference("Preferences"))]
    return [
      route(
        .get, "/notification-preferences", .guideClient,
        RouteOperation(
          "getPreferences", "What a user has switched on and off, with labels", tag: "Guide", parameters: [user],
          replies: reply)
      ) { request, _ in
        let user = try Self.preferenceUser(request)
        let set = try await storage.preferences(of: user, in: configuration.appMode)
        return .json(200, Self.preferences(set, hasLabels: true), headers: Self.openIdentity)
      },
      route(
        .put, "/notification-preferences", .guideClient,
        RouteOperation(
          "setPreferences", "Switch categories; absent ones stay", tag: "Guide", parameters: [user],
          request: Schemas.reference("PreferenceChange"), replies: reply),
        setPreferences),
    ]
  }

  private func setPreferences(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    var fields = try RequestFields(request)
    var values: [String: Bool] = [:]
    for category in PreferenceCategory.all {
      guard let given = fields.raw(category.name) else { continue }
      guard let isOn = given.bool else { throw APIError.invalid(category.name, "must be true or false") }
      values[category.name] = isOn
    }
    try fields.finish()
    let user = try Self.preferenceUser(request)
    guard !values.isEmpty else {
      throw APIError.missing(
        "preferences", hint: "Send at least one of \(PreferenceCategory.all.map(\.name).joined(separator: ", ")).")
    }
    let set = try await storage.setPreferences(
      PreferenceChange(appMode: configuration.appMode, user: user, values: values, at: now))
    let inFlight = await dispatcher.reconsider([.user(user)])
    return .json(200, Self.preferences(set, hasLabels: false, inFlight: inFlight), headers: Self.openIdentity)
  }

  private static func preferenceUser(_ request: HTTPRequest) throws(APIError) -> UserID {
    try allowQuery(request, ["userId"])
    guard let text = request.queryValue("userId"), !text.isEmpty else {
      throw .missing("userId", hint: "This call names no user in its body: add ?userId= to the address.")
    }
    return try user(text, "userId")
  }

  /// - Parameter inFlight: pushes that the change could not stop any more; `nil` when nothing changed.
  private static func preferences(_ set: PreferenceSet, hasLabels: Bool, inFlight: Int? = nil) -> JSONValue {
    let values = PreferenceCategory.all.map { category in
      JSONMember(category.name, .bool(set[category.name]?.isOn ?? category.isOnByDefault))
    }
    let labels = PreferenceCategory.all.map { category -> JSONValue in
      [
        "name": .string(category.name), "label": ["ko": .string(category.korean), "en": .string(category.english)],
        "default": .bool(category.isOnByDefault),
      ]
    }
    return .compact([
      "success": true, "preferences": .object(values),
      "updatedAt": JSONValue(set.settings.values.map(\.setAt).max()?.rfc3339),
      "categories": hasLabels ? .array(labels) : .null, "inFlight": JSONValue(inFlight),
    ])
  }
}
