import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// The stand-in against clients that people use: aioapns and Go's net/http. curl has its own tests.
@Suite struct StandInPeerTests {
  /// What a client's program is told, and what it has to have seen.
  private struct Stage {
    let peer: StandInCurl
    let deadToken: String

    init() async throws {
      peer = try await StandInCurl()
      var draft = StandInDeviceDraft(topic: StandInCurl.topic)
      draft.state = .unregistered(at: 1_799_568_000_000)
      let made = draft
      deadToken = Hex.encode(try peer.standIn.core.withLock { try $0.addDevice(made) }.token)
    }

    func check(_ result: ChildProcess.Result, connections: Int) async throws {
      #expect(result.code == 0, "\(result.errors)")
      let seen = try #require(try result.objects().first, "\(result.output)")
      #expect(seen["first"].flatMap(Self.status) == 200)
      let many = try #require(seen["many"]?.elements)
      #expect(many.count == 200)
      #expect(many.allSatisfy { Self.status($0) == 200 })
      #expect(seen["wrong"].flatMap(Self.status) == 400)
      #expect(seen["wrong"]?["reason"]?.string == "BadPriority")
      #expect(seen["dead"].flatMap(Self.status) == 410)
      #expect(seen["dead"]?["reason"]?.string == "Unregistered")
      #expect(seen["dead"]?["timestamp"]?.int == 1_799_568_000_000)
      let statistics = peer.standIn.core.withLock { $0.statistics }
      #expect(statistics.taken == 201)
      #expect(statistics.requests == 203)
      #expect(statistics.connections == connections)
      #expect(statistics.byReason == ["BadPriority": 1, "Unregistered": 1])
      #expect(statistics.maxConcurrentSeen > 1, "more than one stream was open at once")
    }

    /// aioapns gives its status as text.
    private static func status(_ reply: JSONSlice) -> Int? {
      reply["status"]?.int ?? reply["status"]?.string.flatMap { Int($0) }
    }
  }

  @Test("by provider token and by client certificate", arguments: [false, true])
  func aioapns(byCertificate: Bool) async throws {
    let stage = try await Stage()
    let line = stage.peer.standIn.readyLine
    let port = try #require(Int(line.sandbox.split(separator: ":").last ?? ""))
    var given = [
      JSONMember("host", "127.0.0.1"), JSONMember("port", .int(Int64(port))),
      JSONMember("caFile", .string(line.caFile)),
      JSONMember("topic", .string(StandInCurl.topic)),
      JSONMember("token", .string(Hex.encode(stage.peer.device.token))),
      JSONMember("deadToken", .string(stage.deadToken)),
    ]
    if byCertificate {
      // aioapns wants both in one file.
      let both = stage.peer.folder.file("both.pem")
      try TestFiles.write(try TestFiles.read(line.certFile) + TestFiles.read(line.certKeyFile), to: both)
      given.append(JSONMember("certFile", .string(both)))
    } else {
      given += [
        JSONMember("keyFile", .string(line.keyFile)), JSONMember("keyId", .string(line.keyID)),
        JSONMember("teamId", .string(line.teamID)),
      ]
    }
    let result = try await ChildProcess.run(
      try TestFiles.peerPython(),
      [TestFiles.fixturePath("peers/aioapns_client.py"), JSONValue.object(given).encodedText])
    try await stage.check(result, connections: 1)
    #expect(stage.peer.standIn.core.withLock { $0.statistics.providerTokens } == (byCertificate ? 0 : 1))
    let seen = try #require(try result.objects().first)
    #expect(seen["many"]?.elements.allSatisfy { $0["echoed"]?.bool == true } == true)
    let inbox = stage.peer.standIn.core.withLock { $0.pushes(device: stage.peer.device.id, after: 0, limit: 1) }
    #expect(inbox.first.map { String(decoding: $0.push.payload, as: UTF8.self) }?.contains("push ") == true)
    await stage.peer.standIn.stop()
  }

  @Test("by provider token and by client certificate", arguments: [false, true])
  func go(byCertificate: Bool) async throws {
    let stage = try await Stage()
    let line = stage.peer.standIn.readyLine
    let client = try await Self.goClient(into: stage.peer.folder)
    let given: JSONValue = [
      "Endpoint": .string(line.sandbox), "CAFile": .string(line.caFile), "KeyFile": .string(line.keyFile),
      "KeyID": .string(line.keyID), "TeamID": .string(line.teamID), "Topic": .string(StandInCurl.topic),
      "Token": .string(Hex.encode(stage.peer.device.token)), "DeadToken": .string(stage.deadToken),
      "CertFile": .string(byCertificate ? line.certFile : ""), "CertKeyFile": .string(line.certKeyFile),
    ]
    let result = try await ChildProcess.run(client, [given.encodedText], environment: [:])
    try await stage.check(result, connections: 1)
    let seen = try #require(try result.objects().first)
    #expect(seen["first"]?["protocol"]?.string == "HTTP/2.0")
    #expect(seen["first"]?["apnsUniqueId"]?.string?.utf8.count == 36)
    let ids = seen["many"]?.elements.compactMap { $0["apnsId"]?.string } ?? []
    #expect(Set(ids).count == 200)
    await stage.peer.standIn.stop()
  }

  /// Builds the client; the compiler's cache is kept between runs.
  private static func goClient(into folder: TemporaryFolder) async throws -> String {
    let program = folder.file("go-client")
    let built = try await ChildProcess.run(
      "/usr/bin/env", ["go", "build", "-o", program, TestFiles.fixturePath("peers/go/main.go")],
      environment: [
        "PATH": "/usr/local/go/bin:/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin", "GO111MODULE": "off",
        "GOCACHE": TestFiles.peersFolder + "/go-cache", "HOME": folder.path,
      ])
    guard built.code == 0 else {
      throw TestFiles.Failure(
        description: "the peer Go is missing or refuses: \(built.errors); run scripts/bootstrap test")
    }
    return program
  }
}
