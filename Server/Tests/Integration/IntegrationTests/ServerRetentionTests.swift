import PabalModel
import PabalPrimitives
import PabalServer
import TestSupport
import Testing

@Suite struct ServerRetentionTests {
  @Test("a server that starts a month later forgets what has ended, and counts it") func atTheStart() async throws {
    let folder = try TemporaryFolder()
    let clock = ManualClock(wall: Clock.system.wall())
    var configuration = UpConfiguration(folder: .kept(folder.file("data")), port: 0)
    configuration.clock = clock.clock
    let message = Locked("")
    try await withServer(configuration) { stage in
      _ = try await stage.registerByGuide("u", token: try await stage.mint().token)
      let sent = try await stage.talentRequest(to: "u", id: "1").json()
      #expect(sent["sent"]?.int == 1)
      message.withLock { $0 = sent["messageId"]?.string ?? "" }
    }
    clock.advance(by: .seconds(31 * 86_400))
    try await withServer(configuration) { stage in
      let path = "/v1/messages/\(message.withLock { $0 })"
      var status = 200
      for _ in 0..<10_000 where status == 200 { status = try await stage.api("GET", path).status }
      #expect(status == 404)
      let metrics = try await stage.api("GET", "/metrics").text
      #expect(metrics.contains("pabal_retention_removed_total{what=\"message\"} 1\n"))
    }
  }
}
