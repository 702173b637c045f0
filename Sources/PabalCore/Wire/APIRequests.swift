package import Foundation
package import PabalModel
package import PabalPrimitives

/// The calls that the SDK makes, and no others.
package struct APIRequests: Sendable {
  private let server: URL
  private let key: String

  package init(server: URL, key: String) {
    self.server = server
    self.key = key
  }

  /// The install's secret proves a sign-out, which has no user to prove it. It is shown with every other state as well:
  /// a server that has seen it once never mints another, so that a lost answer cannot leave us with an outdated one.
  package func put(_ state: DeviceStateBody, installSecret: String?) -> HTTPCall {
    var call = make("PUT", "v1/devices", body: state.json)
    if let installSecret { call.headers["Pabal-Install-Secret"] = installSecret }
    return call
  }

  /// `events` are JSON objects, at most `EventLimits.batch`.
  package func post(events: [JSONValue]) -> HTTPCall {
    make("POST", "v1/events", body: ["events": .array(events)])
  }

  package func preferences(of user: UserID) -> HTTPCall {
    make("GET", "notification-preferences", user: user, body: nil)
  }

  package func put(preferences: [String: Bool], of user: UserID) -> HTTPCall {
    let members = preferences.sorted { $0.key < $1.key }.map { JSONMember($0.key, .bool($0.value)) }
    return make("PUT", "notification-preferences", user: user, body: .object(members))
  }

  private func make(_ method: String, _ path: String, user: UserID? = nil, body: JSONValue?) -> HTTPCall {
    var url = server.appendingPathComponent(path)
    if let user { url.append(queryItems: [URLQueryItem(name: "userId", value: user.rawValue)]) }
    var headers = ["Authorization": "Bearer \(key)", "Accept": "application/json"]
    if body != nil { headers["Content-Type"] = "application/json" }
    return HTTPCall(method: method, url: url, headers: headers, body: body?.encoded)
  }
}
