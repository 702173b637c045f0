import Observability
import PabalModel
import PabalPrimitives
import PabalServer
import Testing

/// A running server on free ports with its data in a temporary folder, and its own stand-in.
struct ServerStage: Sendable {
  let server: UpServer
  let line: UpReadyLine
  /// With the secret key.
  let api: ServerCaller
  let control: ServerCaller

  init(_ server: UpServer) throws {
    self.server = server
    line = server.readyLine
    api = try ServerCaller(line.server, key: line.testKey)
    let control = try JSONSlice(parsing: line.simulator.encoded)["control"]?.string
    self.control = try ServerCaller(try #require(control))
  }

  /// What the stand-in's APNs took, in order.
  func inbox() async throws -> [JSONSlice] {
    let answer = try await control("GET", "/v1/simulator/inbox?limit=1000")
    return try #require(try answer.json()["data"]).elements
  }

  /// Requests that reached the stand-in.
  func wireLog() async throws -> [JSONSlice] {
    let answer = try await control("GET", "/v1/simulator/requests?limit=1000")
    return try #require(try answer.json()["data"]).elements
  }

  func mint(environment: String = "sandbox") async throws -> (id: String, token: String) {
    let answer = try await control("POST", "/v1/simulator/devices", ["environment": .string(environment)])
    let root = try answer.json()
    return (try #require(root["id"]?.string), try #require(root["token"]?.string))
  }

  func registerByGuide(_ user: String, token: String) async throws -> ServerCaller.Answer {
    try await api(
      "POST", "/api/push/register",
      ["userId": .string(user), "deviceToken": .string(token), "platform": "ios", "appVersion": "2.4.0"])
  }

  func talentRequest(to user: String, id: String) async throws -> ServerCaller.Answer {
    try await api(
      "POST", "/api/push/talent-request",
      [
        "receiverId": .string(user), "requesterName": "김민준", "talentTitle": "기타 레슨", "requestId": .string(id),
      ])
  }
}

func withServer(
  _ configuration: UpConfiguration = UpConfiguration(folder: .ephemeral, port: 0),
  _ body: (ServerStage) async throws -> Void
) async throws {
  guard case .running(let server) = try await UpServer.start(configuration) else {
    Issue.record("another server holds the folder")
    return
  }
  do {
    try await body(try ServerStage(server))
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

extension ServerStage {
  /// The state of a message's one delivery once it has ended; the stand-in's stream of events has no place for it, so
  /// it is asked for until it is final.
  func finalState(of message: MessageID) async throws -> String? {
    for _ in 0..<10_000 {
      let list = try await api("GET", "/v1/messages/\(message.rawValue)/deliveries").json()
      let state = list["data"]?.elements.first?["state"]?.string
      if let state, DeliveryState(rawValue: state)?.isTerminal == true { return state }
    }
    return nil
  }
}
