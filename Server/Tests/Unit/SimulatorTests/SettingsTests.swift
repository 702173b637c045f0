import HTTPServer
import PabalPrimitives
import Simulator
import Testing

@Suite struct SettingsTests {
  let control: ControlBench

  init() throws {
    control = try ControlBench()
  }

  private func patch(_ body: String) async throws -> (status: Int, json: JSONSlice?) {
    try await control.call(.patch, "/settings", body)
  }

  @Test("the settings at the start are those of Apple's texts") func defaults() async throws {
    let response = try await control.raw(.get, "/settings")
    #expect(
      String(decoding: try #require(response.bytes), as: UTF8.self)
        == #"{"streamsBeforeToken":1,"streamsAfterToken":1000,"streamsAfterError":null,"errorsBeforeDisconnect":null,"#
        + #""providerTokenScope":"key","providerTokenChanges":1,"providerTokenWindowMs":1200000,"#
        + #""providerTokenMaxAgeMs":3600000,"idleTimeoutMs":null,"log":"requests"}"#)
  }

  @Test("a change holds for what comes after it, and a reset takes it back") func change() async throws {
    #expect(try await patch(#"{"errorsBeforeDisconnect":1,"log":"none"}"#).json?["log"]?.string == "none")
    let answer = try control.push(stream: 1) { $0.priority = "3" }
    #expect(answer.actions.contains { if case .goaway = $0 { true } else { false } })
    #expect(try await control.call(.get, "/requests").json?["data"]?.elements.isEmpty == true)
    #expect(try await control.call(.get, "/stats").json?["requests"]?.int == 1)
    #expect(try await patch(#"{"errorsBeforeDisconnect":null}"#).json?["errorsBeforeDisconnect"]?.isNull == true)
    _ = try await patch(#"{"providerTokenScope":"team","providerTokenChanges":0,"providerTokenMaxAgeMs":1000}"#)
    _ = try await control.call(.post, "/reset")
    let after = try await control.call(.get, "/settings").json
    #expect(after?["providerTokenScope"]?.string == "key")
    #expect(after?["providerTokenMaxAgeMs"]?.int == 3_600_000)
    #expect(after?["log"]?.string == "requests")
  }

  @Test("IdleTimeout: a connection that the clock leaves behind is sent away by GOAWAY, one that was used is not")
  func idle() async throws {
    let busy = control.core.withLock { $0.connectionOpened(.sandbox) }
    let pinged = control.core.withLock { $0.connectionOpened(.sandbox) }
    _ = try await patch(#"{"idleTimeoutMs":600000}"#)
    _ = try await control.call(.post, "/clock", #"{"advanceMs":599999}"#)
    #expect(control.acted.withLock { $0.isEmpty })
    let push = PushCall(path: "/3/device/\(PushBench.hex)", authorization: control.bench.usual)
    control.core.withLock { core in
      _ = core.handle(StandInRequest(connection: busy, stream: 1, headers: push.headers, body: push.body))
      core.pingReceived(on: pinged)
    }
    _ = try await control.call(.post, "/clock", #"{"advanceMs":1}"#)
    var sent: [StandInConnectionID] = []
    for action in control.acted.withLock({ $0 }) {
      guard case .goaway(let id, 0, let debug) = action else { continue }
      #expect(String(decoding: debug, as: UTF8.self) == #"{"reason":"IdleTimeout"}"#)
      sent.append(id)
    }
    #expect(sent == [control.bench.connection])
    #expect(try await control.call(.get, "/stats").json?["goaways"]?.int == 1)
    #expect(try control.push(stream: 1).actions.isEmpty)
    _ = try await control.call(.post, "/clock", #"{"advanceMs":599999}"#)
    #expect(control.acted.withLock { $0.filter { if case .goaway = $0 { true } else { false } }.count } == 3)
  }

  @Test("new rules tell connections what the old ones held") func release() async throws {
    _ = try await control.call(.put, "/faults", #"{"rules":[{"times":1,"then":{"maxConcurrentStreams":0}}]}"#)
    _ = try control.push(stream: 1)
    #expect(try await control.call(.put, "/faults", #"{"rules":[]}"#).status == 200)
    #expect(
      control.acted.withLock { actions in
        actions.contains { if case .streamLimit(control.bench.connection, 1000) = $0 { true } else { false } }
      })
  }

  @Test(
    "a setting that cannot be meant is 400 with its name, and nothing changes",
    arguments: [
      ("{}", "streamsAfterToken"), (#"{"speed":1}"#, "speed"), (#"{"streamsAfterToken":-1}"#, "streamsAfterToken"),
      (#"{"providerTokenScope":"device"}"#, "providerTokenScope"), (#"{"idleTimeoutMs":0}"#, "idleTimeoutMs"),
      (#"{"log":"some","streamsAfterToken":5}"#, "log"), (#"{"errorsBeforeDisconnect":0}"#, "errorsBeforeDisconnect"),
    ])
  func wrong(_ body: String, _ name: String) async throws {
    let (status, json) = try await patch(body)
    #expect(status == 400)
    #expect(json?["error"]?["param"]?.string == name)
    #expect(try await control.call(.get, "/settings").json?["streamsAfterToken"]?.int == 1000)
  }
}
