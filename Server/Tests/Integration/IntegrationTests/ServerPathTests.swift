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

  @Test func `the simulator's resources are on the API too, for the secret key only`() async throws {
    try await withServer { stage in
      let open = try ServerCaller(stage.line.server)
      #expect(try await open("GET", "/v1/simulator/devices").status == 401)
      let publishable = try ServerCaller(stage.line.server, key: stage.line.publishableKey)
      #expect(try await publishable("GET", "/v1/simulator/devices").status == 403)
      let listed = try await stage.api("GET", "/v1/simulator/devices")
      #expect(listed.status == 200)
      #expect(try listed.json()["data"]?.elements.count == 4)
    }
  }

  @Test func `metrics have their names, and labels from closed sets only`() async throws {
    try await withServer { stage in
      _ = try await stage.talentRequest(to: "demo-alex", id: "1")
      let text = try await ServerCaller(stage.line.metrics)("GET", "/metrics").text
      for line in [
        #"pabal_attempts_total{provider="apns",environment="sandbox",status="200",reason="none"} 1"#,
        #"pabal_device_hygiene_total{result="environment_learned"} 1"#, "pabal_deliveries_in_flight 0",
        "process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_start_time_seconds ",
      ] {
        #expect(text.contains(line), "\(line) is missing")
      }
      #expect(!text.contains("demo-alex") && !text.contains("dev_") && !text.contains("msg_"))
    }
  }
}
