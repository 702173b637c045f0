import Foundation
import PabalPrimitives
import PabalSimulation
import Testing

@Suite(.serialized) struct LiveDeviceLinkTests {
  private static let token = String(repeating: "0f", count: 32)
  private static let device = #"{"id":"d1","token":"\#(token)","environment":"sandbox","topic":"com.example.shop"}"#

  init() {
    setenv("no_proxy", "127.0.0.1,localhost,::1", 1)
  }

  private static func push(_ id: String) -> String {
    let payload = Base64.encode(Array(#"{"aps":{"alert":"\#(id)"}}"#.utf8))
    return """
      event: push
      id: \(id)
      data: {"apnsId":"a-\(id)","topic":"com.example.shop","pushType":"alert","collapseId":null,\
      "payloadBase64":"\(payload)"}


      """
  }

  private func standIn(_ stream: @escaping @Sendable (Int) -> ScriptedStandIn.Reply) throws -> ScriptedStandIn {
    try ScriptedStandIn(stream: stream) { request in
      request.line.hasPrefix("POST") ? .json(201, Self.device) : .json(200, Self.device)
    }
  }

  private func link(_ standIn: ScriptedStandIn) throws -> DeviceLink {
    .live(control: try #require(standIn.url), environment: "sandbox")
  }

  @Test func `the stand-in mints the token; leaving and uninstalling are told to it`() async throws {
    let standIn = try standIn { _ in .eventsThenClose("") }
    defer { standIn.stop() }
    let link = try link(standIn)
    #expect(try await link.register("com.example.shop") == Array(repeating: 0x0F, count: 32))
    try await link.leave()
    try await link.uninstall()
    #expect(
      standIn.seen == [
        ScriptedStandIn.Request(
          line: "POST /v1/simulator/devices", body: #"{"topic":"com.example.shop","environment":"sandbox"}"#),
        ScriptedStandIn.Request(line: "PATCH /v1/simulator/devices/d1", body: #"{"online":false}"#),
        ScriptedStandIn.Request(line: "PATCH /v1/simulator/devices/d1", body: #"{"state":"unregistered"}"#),
      ])
  }

  @Test func `a broken stream is opened again, from the last push on`() async throws {
    let standIn = try standIn { number in
      switch number {
      case 0: .eventsThenClose("event: ready\ndata: {}\n\n" + Self.push("in_1") + Self.push("in_2"))
      default: .eventsThenWait(": heartbeat\n\nevent: ready\ndata: {}\n\n" + Self.push("in_3"))
      }
    }
    defer { standIn.stop() }
    let link = try link(standIn)
    _ = try await link.register("com.example.shop")
    var ids: [String] = []
    for await push in link.pushes() {
      ids.append(push.inboxID)
      #expect(push.payload == Array(#"{"aps":{"alert":"\#(push.inboxID)"}}"#.utf8))
      if ids.count == 3 { break }
    }
    #expect(ids == ["in_1", "in_2", "in_3"])
    let streams = standIn.seen.filter { $0.line == "GET /v1/simulator/devices/d1/stream" }
    #expect(streams.map(\.lastEventID) == [nil, "in_2"])
  }

  @Test func `a stream that another one replaced ends and is not opened again`() async throws {
    let standIn = try standIn { _ in
      .eventsThenWait("event: ready\ndata: {}\n\nevent: replaced\ndata: {}\n\n")
    }
    defer { standIn.stop() }
    let link = try link(standIn)
    _ = try await link.register("com.example.shop")
    for await push in link.pushes() { Issue.record("unexpected \(push)") }
    #expect(standIn.seen.filter { $0.line.contains("/stream") }.count == 1)
  }

  @Test func `a refusal and an absent stand-in are errors that say what to do`() async throws {
    let refusing = try ScriptedStandIn(stream: { _ in .eventsThenClose("") }, other: { _ in .json(400, "{}") })
    let link = try link(refusing)
    let refused = await #expect(throws: PhoneError.self) { try await link.register("com.example.shop") }
    #expect(refused?.kind == .linkFailed)
    #expect(refused?.message.contains("answered 400") == true)
    refusing.stop()
    let absent = await #expect(throws: PhoneError.self) { try await link.register("com.example.shop") }
    #expect(absent?.kind == .linkFailed)
    #expect(absent?.cause != nil)
  }
}
