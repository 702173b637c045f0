import PabalPrimitives
import PabalServer
import Testing

/// The straight path through every part: API, store, engine, stand-in.
@Suite struct ServerPathTests {
  @Test func `a talent request goes from the guide's route to the device, and the trace tells it`() async throws {
    try await withServer { stage in
      let device = try await stage.mint()
      let registered = try await stage.registerByGuide("u_1", token: device.token)
      #expect(registered.status == 200, "\(registered.text)")
      let sent = try await stage.talentRequest(to: "u_1", id: "tr_1")
      let result = try sent.json()
      #expect(sent.status == 200)
      #expect(result["success"]?.bool == true, "\(sent.text)")
      #expect(result["sent"]?.int == 1, "\(sent.text)")

      let push = try #require(try await stage.inbox().last)
      #expect(push["device"]?.string == device.id)
      let alert = try #require(push["payload"]?["aps"]?["alert"])
      #expect(alert["title"]?.string == "새로운 재능 요청")
      let message = try #require(result["messageId"]?.string)
      #expect(push["payload"]?["pabal"]?["m"]?.string == message)
      let delivery = try #require(push["payload"]?["pabal"]?["d"]?.string)

      let trace = try await stage.api("GET", "/v1/deliveries/\(delivery)/trace")
      #expect(trace.status == 200, "\(trace.text)")
      #expect(try trace.json()["state"]?.string == "accepted")
      let steps = try #require(try trace.json()["steps"]).elements.compactMap { $0["step"]?.string }
      #expect(steps.contains("devices") && steps.contains("attempt") && steps.contains("outcome"), "\(trace.text)")
    }
  }

  @Test func `the ready line lists three users with four devices that take pushes`() async throws {
    try await withServer { stage in
      #expect(stage.line.users.map(\.id) == ["demo-jiwon", "demo-minjun", "demo-alex"])
      #expect(stage.line.users.flatMap(\.devices).count == 4)
      for user in stage.line.users {
        let sent = try await stage.talentRequest(to: user.id, id: "for-\(user.id)")
        #expect(try sent.json()["sent"]?.int == user.devices.count, "\(sent.text)")
      }
      let devices = Set(try await stage.inbox().compactMap { $0["device"]?.string })
      #expect(devices == Set(stage.line.users.flatMap(\.devices).map(\.id)))
      let ready = try await ServerCaller(stage.line.metrics)("GET", "/readyz")
      #expect(ready.status == 200, "\(ready.text)")
    }
  }
}
