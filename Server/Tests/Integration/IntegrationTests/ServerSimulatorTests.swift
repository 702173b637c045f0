import PabalModel
import PabalPrimitives
import PabalServer
import TestSupport
import Testing

/// The stand-in's resources at the API's own address, and what the server counts.
@Suite struct ServerSimulatorTests {
  /// A server whose stand-in is another's.
  private func withForeignStandIn(_ body: (_ owner: ServerStage, _ guest: ServerStage) async throws -> Void)
    async throws
  {
    let folder = try TemporaryFolder()
    try await withServer { owner in
      try TestFiles.write(owner.line.simulator.encoded, to: folder.file("sim.json"))
      let configuration = UpConfiguration(
        folder: .ephemeral, port: 0, simulatorFile: folder.file("sim.json"))
      try await withServer(configuration) { guest in try await body(owner, guest) }
    }
  }

  @Test func `with a stand-in elsewhere its resources are at the API too, for the secret key only`() async throws {
    try await withForeignStandIn { owner, guest in
      let made = try await guest.api("POST", "/v1/simulator/devices", ["environment": "production"])
      #expect(made.status == 201, "\(made.text)")
      let device = try made.json()
      let id = try #require(device["id"]?.string)
      let seen = try await owner.control("GET", "/v1/simulator/devices/\(id)").json()
      #expect(seen["environment"]?.string == "production")
      let byToken = try await guest.api("GET", "/v1/simulator/devices?token=\(device["token"]?.string ?? "")&limit=5")
      #expect(try byToken.json()["data"]?.elements.first?["id"]?.string == id)
      let picture = try await guest.api("GET", "/v1/simulator/media/sample.png")
      #expect(picture.headers["content-type"] == "image/png")
      #expect(picture.body == (try await owner.control("GET", "/v1/simulator/media/sample.png").body))
      #expect(try await guest.api("PATCH", "/v1/simulator/devices/\(id)", ["online": false]).status == 200)
      #expect(try await guest.api("GET", "/v1/simulator/devices/nobody").status == 404)
      let stream = try await guest.api("GET", "/v1/simulator/devices/\(id)/stream")
      #expect(stream.status == 501)
      #expect(stream.text.contains(guest.control.port.description))
      for key in [guest.line.publishableKey, "pb_test_nobody", ""] {
        let stranger = try await guest.api("GET", "/v1/simulator/devices", headers: ["Authorization": "Bearer \(key)"])
        #expect([401, 403].contains(stranger.status), "\(stranger.text)")
      }
    }
  }

  @Test func `a stand-in that is gone is said so`() async throws {
    let folder = try TemporaryFolder()
    guard case .running(let owner) = try await UpServer.start(UpConfiguration(folder: .ephemeral, port: 0)) else {
      return
    }
    try TestFiles.write(owner.readyLine.simulator.encoded, to: folder.file("sim.json"))
    let configuration = UpConfiguration(folder: .ephemeral, port: 0, simulatorFile: folder.file("sim.json"))
    try await withServer(configuration) { guest in
      await owner.stop()
      let answer = try await guest.api("GET", "/v1/simulator/devices")
      #expect(answer.status == 502, "\(answer.text)")
      #expect(answer.text.contains("simulator_unreachable"))
    }
  }

  @Test func `metrics tell of devices, connections, retries and time to Apple's yes`() async throws {
    try await withServer { stage in
      let rules: JSONValue = ["rules": [["times": 1, "then": ["status": 503]]]]
      _ = try await stage.control("PUT", "/v1/simulator/faults", rules)
      let sent = try await stage.talentRequest(to: "demo-alex", id: "1").json()
      let message = MessageID(rawValue: sent["messageId"]?.string ?? "")
      #expect(try await stage.finalState(of: message) == "accepted")
      let operations = try ServerCaller(stage.line.metrics)
      let text = try await operations("GET", "/metrics").text
      for line in [
        #"pabal_devices{platform="ios",status="active"} 4"#, #"pabal_devices{platform="ios",status="inactive"} 0"#,
        #"pabal_provider_connections{provider="apns",environment="sandbox"} 1"#,
        #"pabal_provider_connection_events_total{provider="apns",event="open"} 1"#,
        #"pabal_retries_total{provider="apns",reason="apns.ServiceUnavailable"} 1"#,
        #"pabal_queue_to_accept_seconds_count{class="urgent"} 1"#,
        #"pabal_deliveries_total{mode="test",provider="apns",platform="ios",class="urgent","#
          + #"state="accepted",reason="none"} 1"#,
      ] {
        #expect(text.contains(line), "\(line)")
      }
      #expect(text.contains(#"pabal_store_size_bytes{part="database"}"#))
    }
  }
}
