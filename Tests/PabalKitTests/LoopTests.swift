import PabalKit
import PabalPrimitives
import PabalSimulation
import Testing

@Suite(.timeLimit(.minutes(1))) @MainActor struct LoopTests {
  @Test func `from a registration to an opened notification`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      let client = try bench.client()
      await client.signIn(userID: "demo-jiwon")
      try await client.requestAuthorization()
      await client.flush()
      try await phone.settle()
      let state = try #require(bench.server.registrations.last)
      #expect(state["userId"]?.string == "demo-jiwon")
      #expect(state["token"]?.string == String(repeating: "ab", count: 32))
      #expect(state["environment"]?.string == "sandbox")
      #expect(state["permission"]?.string == "granted")
      #expect(state["epoch"]?.int == 1)
      #expect(state["capabilities"]?["serviceExtension"]?.bool == true)

      bench.push(1, #","type":"talent_request","requestId":"req-1""#)
      try await phone.wait { screen, _ in !screen.banners.isEmpty }
      try await phone.tap()
      try await phone.settle()
      #expect(bench.app.routes == ["req-1"])
      #expect(bench.app.interactions.map(\.kind) == [.open])
      #expect(bench.server.events == ["received", "presented", "opened:default"])
    }
  }

  @Test func `the body of PUT v1 devices has these members and no others`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      try await phone.settle()
      let state = try #require(bench.server.registrations.last)
      #expect(
        state.members.map(\.name) == [
          "installId", "epoch", "userId", "platform", "token", "bundleId", "environment", "appVersion", "osVersion",
          "model", "locale", "timeZone", "permission", "lockScreen", "sdkVersion", "capabilities",
        ])
      #expect(state["userId"]?.isNull == true)
      #expect(bench.server.calls.first?.headers["Authorization"] == "Bearer pp_test_1")
    }
  }
}
