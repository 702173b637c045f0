import PabalPrimitives
import Simulator
import Testing

/// Connections that showed a client certificate; that TLS took it is tested with sockets.
@Suite struct StandInCertificateTests {
  private static let all: Set<String> = [
    PushBench.topic, PushBench.topic + ".voip", PushBench.topic + ".complication", PushBench.topic + ".location-query",
  ]

  private func certificate(
    _ topics: Set<String> = all, _ environments: Set<StandInEnvironment> = [.sandbox, .production],
    from start: Int64 = 1_790_000_000_000, to end: Int64 = 1_820_000_000_000
  ) -> StandInCertificate {
    StandInCertificate(topics: topics, environments: environments, notBefore: start, notAfter: end)
  }

  private func bench(_ certificate: StandInCertificate) throws -> PushBench {
    var bench = try PushBench()
    bench.connection = bench.core.connectionOpened(.sandbox, certificate: certificate)
    return bench
  }

  private func isSentAway(_ answer: Answer, _ reason: String) -> Bool {
    let debug = Array(#"{"reason":"\#(reason)"}"#.utf8)
    return answer.actions.contains { if case .goaway(_, _, debug) = $0 { true } else { false } }
      && answer.actions.contains { if case .close = $0 { true } else { false } }
  }

  @Test("a certificate needs no provider token, and one that comes is not looked at") func accepted() throws {
    var bench = try bench(certificate())
    #expect(try bench.send { $0.authorization = nil }.status == 200)
    #expect(try bench.send(authorization: "bearer nonsense").status == 200)
    #expect(try bench.send { ($0.pushType, $0.topic) = ("voip", PushBench.topic + ".voip") }.status == 200)
    #expect(bench.core.statistics.providerTokens == 0)
  }

  @Test("all streams are open from the start: the client is known") func streams() throws {
    let bench = try bench(certificate())
    #expect(bench.core.streamLimit(of: bench.connection) == 1000)
  }

  @Test("a certificate of one topic says the topic; one of several does not") func fallback() throws {
    var single = try bench(certificate([PushBench.topic]))
    #expect(try single.send { $0.topic = nil }.status == 200)
    var several = try bench(certificate())
    #expect(try several.send { $0.topic = nil }.reason == "MissingTopic")
  }

  @Test("a topic that is not listed is disallowed, and the types that want a token") func topics() throws {
    var bench = try bench(certificate())
    let wrong: [(String, String)] = [
      ("alert", "com.example.other"), ("fileprovider", PushBench.topic + ".pushkit.fileprovider"),
      ("location", PushBench.topic + ".location-query"), ("widgets", PushBench.topic + ".push-type.widgets"),
    ]
    for (type, topic) in wrong {
      #expect(try bench.send { ($0.pushType, $0.topic) = (type, topic) }.reason == "TopicDisallowed", "\(type)")
    }
  }

  @Test("BadCertificateEnvironment: a certificate of the other environment, and the connection ends")
  func environment() throws {
    var bench = try bench(certificate(Self.all, [.production]))
    let answer = try bench.send()
    #expect(answer.status == 403)
    #expect(answer.reason == "BadCertificateEnvironment")
    #expect(isSentAway(answer, "BadCertificateEnvironment"))
    #expect(try bench.send().actions.isEmpty)
    bench.connection = bench.core.connectionOpened(.production, certificate: certificate(Self.all, [.production]))
    #expect(try bench.send().reason == "BadDeviceToken", "the device is of the sandbox")
  }

  @Test("BadCertificate: one that the clock has left behind, one not yet valid, one that is not for pushes")
  func validity() throws {
    var bench = try bench(certificate())
    #expect(try bench.send().status == 200)
    bench.core.setClock(milliseconds: 1_820_000_000_001)
    let answer = try bench.send()
    #expect(answer.status == 403)
    #expect(answer.reason == "BadCertificate")
    #expect(isSentAway(answer, "BadCertificate"))
    for certificate in [certificate([]), certificate(Self.all, []), certificate(from: 1_800_000_000_001)] {
      var other = try self.bench(certificate)
      #expect(try other.send().reason == "BadCertificate")
    }
  }

  @Test("an MDM certificate sends to its own topic") func mdm() throws {
    let topic = "com.apple.mgmt.External.0a1b2c3d-0000-4000-8000-000000000000"
    var bench = try bench(certificate([topic]))
    var draft = StandInDeviceDraft(topic: topic)
    draft.token = [1, 2, 3]
    _ = try bench.core.addDevice(draft)
    let answer = try bench.send { call in
      (call.path, call.pushType, call.topic) = ("/3/device/010203", "mdm", topic)
      call.body = Array(#"{"mdm":"magic"}"#.utf8)
    }
    #expect(answer.status == 200)
    bench.connection = bench.core.connectionOpened(.sandbox)
    let byToken = try bench.send { ($0.path, $0.pushType, $0.topic) = ("/3/device/010203", "mdm", topic) }
    #expect(byToken.status == 200, "the device's topic joins the team's apps")
  }
}
