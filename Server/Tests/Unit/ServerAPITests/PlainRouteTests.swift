import HTTPServer
import Observability
import PabalModel
import PabalPrimitives
import ServerAPI
import Storage
import Testing

@Suite struct PlainRouteTests {
  @Test("PUT of the guide's three keys leaves review alone; GET has labels")
  func preferences() async throws {
    let api = try await TestAPI()
    let put = try await api.call(
      .put, "/notification-preferences?userId=u", #"{"marketing":false,"message":true,"talentRequest":true}"#, key: nil)
    #expect(put.status == 200)
    #expect(put.success == true)
    #expect(
      put.text.contains(#""preferences":{"marketing":false,"message":true,"talentRequest":true,"review":true}"#))
    #expect(put["updatedAt"]?.string != nil)
    try await api.call(.put, "/notification-preferences?userId=u", #"{"review":false}"#, key: TestAPI.publishable)
    let get = try await api.call(.get, "/notification-preferences?userId=u", key: nil)
    #expect(get["preferences"]?["review"]?.bool == false)
    #expect(get["preferences"]?["message"]?.bool == true)
    #expect(get["categories"]?.elements.count == 4)
  }

  @Test(
    "wrong preference calls",
    arguments: [
      ("?userId=u", #"{"marketng":true}"#, "parameter_unknown", "marketng"),
      ("?userId=u", #"{"marketing":"yes"}"#, "parameter_invalid", "marketing"),
      ("?userId=u", "{}", "parameter_missing", "preferences"),
      ("", #"{"marketing":true}"#, "parameter_missing", "userId"),
    ])
  func wrongPreferences(_ query: String, _ body: String, _ code: String, _ parameter: String) async throws {
    let api = try await TestAPI()
    let reply = try await api.call(.put, "/notification-preferences\(query)", body, key: nil)
    #expect(reply.status == 400)
    #expect(reply.success == false)
    #expect(reply.code == code)
    #expect(reply["param"]?.string == parameter)
  }

  @Test("one wrong event does not keep the others from being told")
  func events() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    try await api.talentRequest("u")
    let delivery = try #require(api.sent.withLock { $0.first })
    func event(_ kind: String, _ id: String, _ message: String, at: String = "2027-01-15T08:00:00.000Z") -> String {
      #"{"kind":"\#(kind)","deliveryId":"\#(id)","messageId":"\#(message)","at":"\#(at)","eventId":"e_\#(kind)"}"#
    }
    let (id, message) = (delivery.id.rawValue, delivery.messageID.rawValue)
    let list = [
      event("received", id, message), event("teleported", id, message), event("opened", id, "msg_other"),
      event("presented", id, message, at: "yesterday"), event("received", id, message),
    ]
    let reply = try await api.call(
      .post, "/v1/events", #"{"events":[\#(list.joined(separator: ","))]}"#, key: TestAPI.publishable)
    #expect(reply.status == 202)
    #expect(reply["accepted"]?.int == 1)
    #expect(reply["duplicates"]?.int == 1)
    let rejected = reply["rejected"]?.elements.map { "\($0["index"]?.int ?? -1) \($0["code"]?.string ?? "")" }
    #expect(rejected == ["1 parameter_invalid", "2 delivery_not_found", "3 parameter_invalid"])
    let many = Array(repeating: event("received", id, message), count: 501).joined(separator: ",")
    #expect(
      try await api.call(.post, "/v1/events", #"{"events":[\#(many)]}"#, key: TestAPI.publishable).status == 400)
  }

  @Test func `a conversion has a name and may have a worth; settings are told elsewhere`() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    try await api.talentRequest("u")
    let delivery = try #require(api.sent.withLock { $0.first })
    func report(_ kind: String, _ more: String) async throws -> TestAPI.Reply {
      try await api.call(
        .post, "/v1/events",
        #"{"events":[{"kind":"\#(kind)","deliveryId":"\#(delivery.id.rawValue)","#
          + #""messageId":"\#(delivery.messageID.rawValue)","at":"2027-01-15T08:00:00.000Z","eventId":"e"\#(more)}]}"#,
        key: TestAPI.publishable)
    }
    #expect(try await report("converted", #","name":"purchase","value":12900.50"#)["accepted"]?.int == 1)
    #expect(try await report("custom", #","name":"shared""#)["accepted"]?.int == 1)
    let trace = try await api.call(.get, "/v1/deliveries/\(delivery.id.rawValue)/trace").text
    #expect(
      trace.contains(#""result":"converted","detail":{"name":"purchase","value":12900.50}"#), "\(trace)")
    #expect(trace.contains(#""result":"custom","detail":{"name":"shared"}"#))
    for (kind, more, code) in [
      ("converted", "", "parameter_missing"), ("converted", #","name":"n","value":"5""#, "parameter_invalid"),
      ("converted", #","name":"\#(String(repeating: "n", count: 65))""#, "parameter_invalid"),
      ("opened", #","name":"n""#, "parameter_unknown"), ("settings", "", "parameter_invalid"),
    ] {
      let reply = try await report(kind, more)
      #expect(reply["accepted"]?.int == 0, "\(kind) \(more)")
      #expect(reply["rejected"]?.elements.first?["code"]?.string == code, "\(kind) \(more)")
    }
  }

  @Test func operation() async throws {
    let api = try await TestAPI()
    #expect(try await api.call(.get, "/healthz", key: nil).text == "ok\n")
    let ready = try await api.call(.get, "/readyz", key: nil)
    #expect(ready.status == 200)
    #expect(ready["checks"]?["store"]?["ok"]?.bool == true)
    #expect(try await api.call(.get, "/version", key: nil)["version"]?.string == "0.0.0")
    try await api.register("u")
    try await api.talentRequest("u")
    let metrics = try await api.call(.get, "/metrics", key: nil).text
    #expect(
      metrics.contains(
        #"pabal_messages_total{mode="test",source="guide",type="talent_request",state="accepted"} 1"#), "\(metrics)")
  }

  @Test("404 and 405 in the form of their paths")
  func noRoute() async throws {
    let api = try await TestAPI()
    let none = try await api.call(.get, "/v1/nothing")
    #expect(none.status == 404)
    #expect(none.json["error"]?["code"]?.string == "route_not_found")
    let method = try await api.call(.patch, "/v1/messages")
    #expect(method.status == 405)
    #expect(method.headers.contains(HTTPField("Allow", "GET, POST")))
    let guide = try await api.call(.get, "/api/push/register")
    #expect(guide.status == 405)
    #expect(guide.success == false)
  }

  @Test("every route is in the OpenAPI document once, and every reference leads somewhere")
  func openAPI() async throws {
    let api = try await TestAPI()
    let document = try await api.call(.get, "/openapi.json", key: nil)
    #expect(document.status == 200)
    #expect(document["openapi"]?.string == "3.1.0")
    var ids: [String] = []
    for route in api.api.routes where route.path != "/openapi.json" {
      let operation = document["paths"]?[route.path]?[route.method.rawValue.lowercased()]
      ids.append(try #require(operation?["operationId"]?.string, "\(route.path)"))
      #expect(operation?["responses"]?.members.isEmpty == false, "\(route.path)")
    }
    #expect(Set(ids).count == ids.count)
    let schemas = Set(document["components"]?["schemas"]?.members.map(\.name) ?? [])
    for piece in document.text.split(separator: "#/components/schemas/").dropFirst() {
      let name = String(piece.prefix { $0 != "\"" })
      #expect(schemas.contains(name), "\(name)")
    }
  }
}
