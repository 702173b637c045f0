import Observability
import PabalModel
import PabalPrimitives
import PabalServer
import StorageConformance
import Testing

/// Pushes that Apple does not take at once: where they wait, and what is looked at before the next try.
@Suite struct ServerWaitingTests {
  private static func setFaults(_ stage: ServerStage, _ rules: [JSONValue]) async throws {
    let answer = try await stage.control("PUT", "/v1/simulator/faults", ["rules": .array(rules)])
    #expect(answer.status == 200, "\(answer.text)")
  }

  private static let unavailable: JSONValue = ["then": ["status": 503, "reason": "ServiceUnavailable"]]

  private static func delivery(of message: String, _ stage: ServerStage) async throws -> JSONSlice? {
    try await stage.api("GET", "/v1/messages/\(message)/deliveries").json()["data"]?.elements.first
  }

  /// The delivery as it waits; `nil` when it never does.
  private static func waiting(_ message: String, _ stage: ServerStage) async throws -> JSONSlice? {
    for _ in 0..<10_000 {
      let delivery = try await delivery(of: message, stage)
      if delivery?["state"]?.string == "retrying" { return delivery }
    }
    return nil
  }

  @Test func `a caller who waits hears of the second try`() async throws {
    try await withServer { stage in
      try await Self.setFaults(stage, [["times": 1, "then": ["status": 503]]])
      let body: JSONValue = ["to": ["userIds": ["demo-alex"]], "content": ["body": "하나"]]
      let answer = try await stage.api("POST", "/v1/messages?wait=10", body).json()
      #expect(answer["counts"]?["deliveries"]?["accepted"]?.int == 1)
      let delivery = try await Self.delivery(of: answer["id"]?.string ?? "", stage)
      #expect(delivery?["attempts"]?.int == 2)
      let trace = try await stage.api("GET", "/v1/deliveries/\(delivery?["id"]?.string ?? "")/trace").json()
      let attempts = trace["steps"]?.elements.filter { $0["step"]?.string == "attempt" } ?? []
      #expect(attempts.compactMap { $0["detail"]?["status"]?.int } == [503, 200])
    }
  }

  @Test func `switched off while it waits: it does not go out`() async throws {
    try await withServer { stage in
      try await Self.setFaults(stage, [Self.unavailable])
      let body: JSONValue = [
        "to": ["userIds": ["demo-alex"]], "type": "talent_request",
        "data": ["requesterName": "김민준", "talentTitle": "기타", "requestId": "1"],
      ]
      let message = try #require(try await stage.api("POST", "/v1/messages", body).json()["id"]?.string)
      let waiting = try #require(try await Self.waiting(message, stage))
      #expect(waiting["reason"]?.string == "apns.ServiceUnavailable")
      let off = try await stage.api("PUT", "/notification-preferences?userId=demo-alex", ["talentRequest": false])
      #expect(off.status == 200)
      #expect(try await stage.finalState(of: MessageID(rawValue: message)) == "suppressed")
      #expect(try await Self.delivery(of: message, stage)?["reason"]?.string == "preference_off")
      #expect(try await stage.inbox().isEmpty)
      let why = try await stage.api("GET", "/v1/explain?userId=demo-alex&messageId=\(message)").json()
      #expect(why["answer"]?.string == "we_chose_not_to")
      #expect(why["reason"]?.string == "preference_off")
    }
  }

  @Test func `a phone that changed hands while it waited gets nothing of the first user`() async throws {
    try await withServer { stage in
      let phone = try await stage.mint()
      _ = try await stage.registerByGuide("a", token: phone.token)
      try await Self.setFaults(stage, [Self.unavailable])
      let body: JSONValue = ["to": ["userIds": ["a"]], "content": ["body": "하나"]]
      let message = try #require(try await stage.api("POST", "/v1/messages", body).json()["id"]?.string)
      _ = try #require(try await Self.waiting(message, stage))
      _ = try await stage.registerByGuide("b", token: phone.token)
      #expect(try await stage.finalState(of: MessageID(rawValue: message)) == "suppressed")
      #expect(try await Self.delivery(of: message, stage)?["reason"]?.string == "device_reassigned")
      #expect(try await stage.inbox().isEmpty)
    }
  }

  @Test("OC-34 now or never: expiration 0 on the wire, one request, no second try") func nowOrNever() async throws {
    try await withServer { stage in
      let body: JSONValue = [
        "to": ["userIds": ["demo-alex"]], "content": ["body": "하나"], "options": ["ttl": 0],
      ]
      let taken = try await stage.api("POST", "/v1/messages?wait=5", body).json()
      #expect(taken["counts"]?["deliveries"]?["accepted"]?.int == 1)
      #expect(try await stage.inbox().map { $0["expiration"]?.int } == [0])
      try await Self.setFaults(stage, [Self.unavailable])
      let refused = try await stage.api("POST", "/v1/messages?wait=5", body).json()
      #expect(refused["counts"]?["deliveries"]?["expired"]?.int == 1)
      #expect(try await stage.wireLog().count == 2)
    }
  }

  @Test("marks are read before the API takes its first message: its own must not look like a crash's")
  func marksFirst() async throws {
    let order = Locked<[String]>([])
    var configuration = UpConfiguration(folder: .ephemeral, port: 0)
    configuration.log = Log(minimumLevel: .info, clock: .system) { record in
      if record.name == "server.listening" { order.withLock { $0.append("listening") } }
    }
    configuration.storeLayer = { inner in
      var layer = StorageLayer(over: inner)
      layer.lookingForMarks = { order.withLock { $0.append("marks") } }
      return layer
    }
    try await withServer(configuration) { _ in }
    #expect(order.withLock { $0 } == ["marks", "listening"])
  }
}
