import PabalPrimitives
import PabalServer
import Testing

/// What outcomes and wishes do to devices, over real sockets.
@Suite struct ServerRegistryTests {
  @Test func `a device of unknown environment is tried in production, then in sandbox, and from then on there`()
    async throws
  {
    try await withServer { stage in
      let device = try await stage.mint(environment: "sandbox")
      _ = try await stage.registerByGuide("u", token: device.token)
      for id in ["first", "second"] {
        #expect(try await stage.talentRequest(to: "u", id: id).json()["sent"]?.int == 1)
      }
      let statuses = try await stage.wireLog().compactMap { $0["status"]?.int }
      #expect(statuses == [400, 200, 200])
      let reasons = try await stage.wireLog().map { $0["reason"]?.string }
      #expect(reasons == ["BadDeviceToken", nil, nil])
      #expect(try await stage.inbox().count == 2)
      let devices = try await stage.api("GET", "/v1/devices?userId=u").json()
      #expect(devices["data"]?.elements.first?["environment"]?.string == "sandbox")
    }
  }

  @Test func `an uninstalled app answers 410 once, then the user has no device; a registration brings it back`()
    async throws
  {
    try await withServer { stage in
      let device = try await stage.mint()
      _ = try await stage.registerByGuide("u", token: device.token)
      #expect(try await stage.talentRequest(to: "u", id: "1").json()["sent"]?.int == 1)
      let removed = try await stage.control("PATCH", "/v1/simulator/devices/\(device.id)", ["state": "unregistered"])
      #expect(removed.status == 200, "\(removed.text)")
      let failed = try await stage.talentRequest(to: "u", id: "2")
      #expect(try failed.json()["failed"]?.int == 1, "\(failed.text)")
      let none = try await stage.talentRequest(to: "u", id: "3").json()
      #expect(none["success"]?.bool == false)
      #expect(none["message"]?.string == "등록된 디바이스 없음")
      let before = try await stage.wireLog().count
      _ = try await stage.registerByGuide("u", token: device.token)
      _ = try await stage.talentRequest(to: "u", id: "4")
      #expect(try await stage.wireLog().count == before + 1, "it is tried again")
    }
  }

  @Test func `switched off: no request at the stand-in, reason preference_off; switched on again: sent`() async throws {
    try await withServer { stage in
      let device = try await stage.mint()
      _ = try await stage.registerByGuide("u", token: device.token)
      let off = try await stage.api("PUT", "/notification-preferences?userId=u", ["talentRequest": false])
      #expect(off.status == 200, "\(off.text)")
      let answer = try await stage.talentRequest(to: "u", id: "1")
      let result = try answer.json()
      #expect(result["status"]?.string == "suppressed", "\(answer.text)")
      #expect(result["reason"]?.string == "preference_off", "\(answer.text)")
      #expect(try await stage.wireLog().isEmpty)
      _ = try await stage.api("PUT", "/notification-preferences?userId=u", ["talentRequest": true])
      #expect(try await stage.talentRequest(to: "u", id: "2").json()["sent"]?.int == 1)
    }
  }

  @Test func `a shared phone: after the second registration the first user reaches nobody`() async throws {
    try await withServer { stage in
      let device = try await stage.mint()
      _ = try await stage.registerByGuide("a", token: device.token)
      let second = try await stage.registerByGuide("b", token: device.token)
      #expect(try second.json()["status"]?.string == "reassigned")
      #expect(try await stage.talentRequest(to: "a", id: "1").json()["success"]?.bool == false)
      #expect(try await stage.talentRequest(to: "b", id: "2").json()["sent"]?.int == 1)
      #expect(try await stage.inbox().count == 1)
    }
  }

  @Test("OC-40 20 parallel registrations of one token: one id, one row, one push")
  func parallelRegistrations() async throws {
    try await withServer { stage in
      let device = try await stage.mint()
      let ids = try await withThrowingTaskGroup(of: String?.self) { group in
        for _ in 0..<20 {
          group.addTask {
            let answer = try await stage.api(
              "PUT", "/v1/devices",
              [
                "userId": "u", "platform": "ios", "token": .string(device.token), "installId": "install-1",
                "epoch": 1, "bundleId": "com.example.demo",
              ])
            #expect(answer.status == 200, "\(answer.text)")
            return try answer.json()["id"]?.string
          }
        }
        return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }
      #expect(ids.count == 1)
      #expect(try await stage.api("GET", "/v1/devices?userId=u").json()["data"]?.elements.count == 1)
      #expect(try await stage.talentRequest(to: "u", id: "1").json()["sent"]?.int == 1)
      #expect(try await stage.inbox().count == 1)
    }
  }

  @Test func `a token that the stand-in has never seen becomes a device there before the answer`() async throws {
    try await withServer { stage in
      let token = Hex.encode(Randomness.seeded(11).fill(32))
      _ = try await stage.registerByGuide("stranger", token: token)
      let found = try await stage.control("GET", "/v1/simulator/devices?token=\(token)").json()
      #expect(found["data"]?.elements.count == 1)
      #expect(try await stage.talentRequest(to: "stranger", id: "1").json()["sent"]?.int == 1)
    }
  }
}
