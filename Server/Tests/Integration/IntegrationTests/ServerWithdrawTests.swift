import PabalModel
import PabalPrimitives
import PabalServer
import Storage
import StorageConformance
import TestSupport
import Testing

/// After the reply to a change no attempt begins at what was decided before it.
@Suite struct ServerWithdrawTests {
  /// A server whose way to Apple is a port that takes connections and never answers: every push waits in the transport.
  private func withSilentProvider(_ body: (_ stage: ServerStage, _ owner: ServerStage) async throws -> Void)
    async throws
  {
    let silent = try SilentPort()
    defer { silent.end() }
    let folder = try TemporaryFolder()
    try await withServer { owner in
      let line = try JSONSlice(parsing: owner.line.simulator.encoded)
      let apns = try #require(line["apns"]).members.map { member -> JSONMember in
        let isAddress = ["sandbox", "production"].contains(member.name)
        return JSONMember(
          member.name, isAddress ? .string("https://127.0.0.1:\(silent.port)") : JSONValue(member.value))
      }
      let changed: JSONValue = ["apns": .object(apns), "control": JSONValue(line["control"]?.string)]
      try TestFiles.write(changed.encoded, to: folder.file("sim.json"))
      var configuration = UpConfiguration(folder: .ephemeral, port: 0, simulatorFile: folder.file("sim.json"))
      configuration.grace = .zero
      try await withServer(configuration) { stage in try await body(stage, owner) }
    }
  }

  private func message(_ stage: ServerStage, _ id: String = "1") async throws -> MessageID {
    let sent = try await stage.api(
      "POST", "/v1/messages",
      [
        "to": ["userIds": ["u"]], "type": "talent_request",
        "data": ["requesterName": "김민준", "talentTitle": "기타", "requestId": .string(id)],
      ])
    return MessageID(rawValue: try #require(try sent.json()["id"]?.string))
  }

  private func reason(of message: MessageID, _ stage: ServerStage) async throws -> String? {
    let list = try await stage.api("GET", "/v1/messages/\(message.rawValue)/deliveries").json()
    return list["data"]?.elements.first?["reason"]?.string
  }

  @Test("a push that waits for a connection is taken back: switched off, logged out, reassigned, deleted")
  func waitingForAConnection() async throws {
    try await withSilentProvider { stage, owner in
      for (change, reason) in [
        ("off", "preference_off"), ("out", "device_unregistered"), ("other", "device_reassigned"),
        ("delete", "device_unregistered"),
      ] {
        let token = try await owner.mint().token
        let made = try await stage.registerByGuide("u", token: token).json()
        let message = try await message(stage, change)
        let reply =
          switch change {
          case "off": try await stage.api("PUT", "/notification-preferences?userId=u", ["talentRequest": false])
          case "out":
            try await stage.api("POST", "/api/push/unregister", ["userId": "u", "deviceToken": .string(token)])
          case "other": try await stage.registerByGuide("v", token: token)
          default: try await stage.api("DELETE", "/v1/devices/\(made["deviceId"]?.string ?? "")")
          }
        #expect(try reply.json()["inFlight"]?.int == 0, "\(reply.text)")
        #expect(try await stage.finalState(of: message) == "suppressed", "\(change)")
        #expect(try await self.reason(of: message, stage) == reason)
        _ = try await stage.api("PUT", "/notification-preferences?userId=u", ["talentRequest": true])
        _ = try await stage.api("POST", "/api/push/unregister", ["userId": "u", "deviceToken": .string(token)])
      }
    }
  }

  @Test("what has left already cannot be called back, and the reply says how many") func inFlight() async throws {
    var configuration = UpConfiguration(folder: .ephemeral, port: 0)
    configuration.grace = .zero
    try await withServer(configuration) { stage in
      _ = try await stage.registerByGuide("u", token: try await stage.mint().token)
      let faults: JSONValue = ["rules": [["then": ["delayMs": 600_000]]]]
      #expect(try await stage.control("PUT", "/v1/simulator/faults", faults).status == 200)
      _ = try await message(stage)
      var requests = 0
      while requests == 0 {
        requests = try await stage.control("GET", "/v1/simulator/stats").json()["requests"]?.int ?? 0
      }
      let reply = try await stage.api("PUT", "/notification-preferences?userId=u", ["talentRequest": false])
      #expect(try reply.json()["inFlight"]?.int == 1, "\(reply.text)")
      let other = try await stage.api("PUT", "/notification-preferences?userId=demo-alex", ["talentRequest": false])
      #expect(try other.json()["inFlight"]?.int == 0)
    }
  }

  private func requests(_ stage: ServerStage) async throws -> Int {
    try #require(try await stage.control("GET", "/v1/simulator/stats").json()["requests"]?.int)
  }

  @Test("thirty messages race with one change: after its reply no request begins beyond those that it names")
  func race() async throws {
    try await withServer { stage in
      var generator = SeededGenerator(seed: 16)
      let faults: JSONValue = ["rules": [["then": ["status": 200, "delayMs": 5]]]]
      #expect(try await stage.control("PUT", "/v1/simulator/faults", faults).status == 200)
      for round in 0..<8 {
        _ = try await stage.registerByGuide("u", token: try await stage.mint().token)
        _ = try await stage.api("PUT", "/notification-preferences?userId=u", ["talentRequest": true])
        let before = Int.random(in: 0...30, using: &generator)
        let (named, seen) = try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<before { group.addTask { _ = try await message(stage, "\(round).\(number)") } }
          for _ in 0..<before / 2 { try await group.next() }
          let off = try await stage.api("PUT", "/notification-preferences?userId=u", ["talentRequest": false])
          let seen = try await requests(stage)
          for number in before..<30 { group.addTask { _ = try await message(stage, "\(round).\(number)") } }
          try await group.waitForAll()
          return (try #require(try off.json()["inFlight"]?.int), seen)
        }
        var isOver = false
        while !isOver {
          let list = try await stage.api("GET", "/v1/deliveries?userId=u&limit=200").json()
          let states = list["data"]?.elements.compactMap { $0["state"]?.string.flatMap(DeliveryState.init(rawValue:)) }
          isOver = states?.allSatisfy(\.isTerminal) == true
        }
        #expect(try await requests(stage) - seen <= named, "round \(round)")
      }
    }
  }

  /// A server whose user `u` changes preferences between each message's commit and its hand-over.
  private func withChange(
    _ preferences: JSONValue, _ body: (ServerStage) async throws -> Void
  ) async throws {
    let api = Locked<ServerCaller?>(nil)
    var configuration = UpConfiguration(folder: .ephemeral, port: 0)
    configuration.storeLayer = { inner in
      var layer = StorageLayer(over: inner)
      layer.accepting = { inner, acceptance async throws(StorageError) in
        let result = try await inner.accept(acceptance)
        guard let api = api.withLock({ $0 }) else { return result }
        do {
          _ = try await api("PUT", "/notification-preferences?userId=u", preferences)
        } catch {
          throw StorageError(.unavailable, "The change did not come through.")
        }
        return result
      }
      return layer
    }
    try await withServer(configuration) { stage in
      _ = try await stage.registerByGuide("u", token: try await stage.mint().token)
      api.withLock { $0 = stage.api }
      try await body(stage)
    }
  }

  @Test("a change between a message's commit and its hand-over counts") func betweenCommitAndHandOver() async throws {
    try await withChange(["talentRequest": false]) { stage in
      let message = try await message(stage)
      #expect(try await stage.finalState(of: message) == "suppressed")
      #expect(try await reason(of: message, stage) == "preference_off")
      #expect(try await stage.wireLog().isEmpty)
    }
  }

  @Test("a change that leaves it allowed costs nothing: it goes out once") func stillAllowed() async throws {
    try await withChange(["marketing": true]) { stage in
      let answer = try await stage.talentRequest(to: "u", id: "1").json()
      #expect(answer["sent"]?.int == 1)
      #expect(try await stage.inbox().count == 1)
    }
  }
}
