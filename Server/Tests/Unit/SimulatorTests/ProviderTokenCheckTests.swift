import Cryptography
import PabalPrimitives
import Simulator
import Testing

@Suite struct ProviderTokenCheckTests {
  @Test("a token that is not ours is InvalidProviderToken") func invalid() throws {
    var bench = try PushBench()
    let stranger = try P256SigningKey.generate()
    let now = "\(bench.clock.clock.wall().seconds)"
    let good = try bench.bearer()
    let tokens = [
      try bench.bearer(by: stranger), try bench.bearer(kid: "KEY0000000"), try bench.bearer(team: "TEAM000000"),
      try bench.bearer(alg: "HS256"), try bench.bearer(kid: "SHORT"), try bench.bearer(iat: "\"\(now)\""),
      try bench.bearer(iat: "\(now).5"), try bench.bearer(iat: "\(Int64(now).map { $0 + 3601 } ?? 0)"),
      "bearer abc", "bearer a.b.c", good + "=", good + ".x", String(good.dropLast(4)),
      "bearer " + String(repeating: "a", count: 5000),
    ]
    for token in tokens {
      let answer = try bench.send(authorization: token)
      #expect(answer.status == 403)
      #expect(answer.reason == "InvalidProviderToken", "\(token)")
      #expect(answer.streamLimit == nil)
    }
    #expect(bench.core.streamLimit(of: bench.connection) == 1)
  }

  @Test("RFC 7515: a header with the same name twice is no token") func duplicateMember() throws {
    var bench = try PushBench()
    let head = Base64URL.encode(Array(#"{"alg":"ES256","kid":"KEY1234567","al\u0067":"ES256"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"TEAM123456","iat":1800000000}"#.utf8))
    let signature = Base64URL.encode(try bench.signer.sign(Array("\(head).\(claims)".utf8)))
    #expect(try bench.send(authorization: "bearer \(head).\(claims).\(signature)").reason == "InvalidProviderToken")
  }

  @Test("the first valid token opens the connection: 1 stream, then 1000") func streamLimit() throws {
    var bench = try PushBench()
    #expect(bench.core.streamLimit(of: bench.connection) == 1)
    #expect(try bench.send(authorization: "bearer x").streamLimit == nil)
    // The token is good even when the push is not.
    #expect(try bench.send { $0.priority = "3" }.streamLimit == 1000)
    #expect(try bench.send().streamLimit == nil)
  }

  @Test("OC-82 an error answer shrinks the limit and a good one restores it, when asked for") func shrinking() throws {
    var rules = StandInRules()
    rules.streamsAfterToken = 500
    rules.streamsAfterError = 1
    var bench = try PushBench(rules)
    let token = try bench.bearer()
    #expect(try bench.send(authorization: token).streamLimit == 500)
    #expect(try bench.send(authorization: token) { $0.priority = "3" }.streamLimit == 1)
    #expect(try bench.send(authorization: token) { $0.priority = "3" }.streamLimit == nil)
    #expect(try bench.send(authorization: token).streamLimit == 500)
    _ = try bench.core.setState(.unregistered(at: 1), ofDevice: "phone")
    #expect(try bench.send(authorization: token).streamLimit == nil, "410 is no error")
  }

  @Test("too many errors end a connection by GOAWAY; 410 does not count") func disconnect() throws {
    var rules = StandInRules()
    rules.errorsBeforeDisconnect = 2
    var bench = try PushBench(rules)
    let token = try bench.bearer()
    _ = try bench.core.setState(.unregistered(at: 1), ofDevice: "phone")
    for _ in 0..<5 { #expect(try bench.send(authorization: token).actions.count <= 2) }
    try bench.send(authorization: token) { $0.priority = "3" }
    let last = try bench.send(authorization: token) { $0.priority = "3" }
    #expect(last.reason == "BadPriority")
    let said = last.actions.contains { action in
      if case .goaway(_, last.stream, let debug) = action { return debug == Array(#"{"reason":"BadPriority"}"#.utf8) }
      return false
    }
    #expect(said)
    #expect(try bench.send(authorization: token).actions.isEmpty, "streams above a GOAWAY are not looked at")
    #expect(bench.core.statistics.ignored == 1)
  }

  @Test("a token older than an hour is expired, to the second") func expired() throws {
    var bench = try PushBench()
    let token = try bench.bearer()
    bench.clock.advance(by: .seconds(3600))
    #expect(try bench.send(authorization: token).status == 200)
    bench.clock.advance(by: .seconds(1))
    let answer = try bench.send(authorization: token)
    #expect(answer.status == 403)
    #expect(answer.reason == "ExpiredProviderToken")
  }

  @Test("OC-01 six tokens in ten seconds: only the first is taken") func signedAnew() throws {
    var rules = StandInRules()
    rules.providerTokenChanges = 0
    var bench = try PushBench(rules)
    let first = try bench.bearer()
    #expect(try bench.send(authorization: first).status == 200)
    for _ in 0..<5 {
      bench.clock.advance(by: .seconds(2))
      let answer = try bench.send(authorization: bench.bearer())
      #expect(answer.status == 429)
      #expect(answer.reason == "TooManyProviderTokenUpdates")
    }
    #expect(try bench.send(authorization: first).status == 200)
    bench.clock.advance(by: .seconds(20 * 60))
    #expect(try bench.send(authorization: bench.bearer()).status == 200)
  }

  @Test("OC-04 one change in twenty minutes is free, the next is 429") func oneChange() throws {
    var bench = try PushBench()
    let tokens = try (0..<3).map { _ in try bench.bearer() }
    #expect(try bench.send(authorization: tokens[0]).status == 200)
    #expect(try bench.send(authorization: tokens[1]).status == 200)
    #expect(try bench.send(authorization: tokens[2]).status == 429)
    #expect(try bench.send(authorization: tokens[0]).status == 200)
  }

  @Test("OC-04 re-minted tokens that are expired when they come count as well") func skewed() throws {
    var bench = try PushBench()
    let old = "\(bench.clock.clock.wall().seconds - 3700)"
    let reasons = try (0..<3).map { _ in try bench.send(authorization: try bench.bearer(iat: old)).reason }
    #expect(reasons == ["ExpiredProviderToken", "ExpiredProviderToken", "TooManyProviderTokenUpdates"])
  }

  @Test("OC-02 OC-03 changes count per key, over all connections and whatever the topic") func acrossConnections()
    throws
  {
    var rules = StandInRules()
    rules.providerTokenChanges = 0
    var bench = try PushBench(rules)
    let second = bench.core.connectionOpened(.sandbox)
    #expect(try bench.send().status == 200)
    #expect(try bench.send(authorization: bench.bearer(), on: second).reason == "TooManyProviderTokenUpdates")
    #expect(
      try bench.send(authorization: bench.bearer(kid: "KEY7654321", by: bench.other), on: second).status == 200,
      "another key is another credential")

    rules.providerTokenScope = .connection
    bench = try PushBench(rules)
    let third = bench.core.connectionOpened(.sandbox)
    #expect(try bench.send().status == 200)
    #expect(try bench.send(authorization: bench.bearer(), on: third).status == 200)
    #expect(try bench.send(authorization: bench.bearer(), on: third).reason == "TooManyProviderTokenUpdates")

    rules.providerTokenScope = .team
    bench = try PushBench(rules)
    let fourth = bench.core.connectionOpened(.sandbox)
    #expect(try bench.send().status == 200)
    #expect(
      try bench.send(authorization: bench.bearer(kid: "KEY7654321", by: bench.other), on: fourth).reason
        == "TooManyProviderTokenUpdates")
  }

  @Test("a second key on one connection is unrelated") func secondKey() throws {
    var bench = try PushBench()
    #expect(try bench.send().status == 200)
    let answer = try bench.send(authorization: bench.bearer(kid: "KEY7654321", by: bench.other))
    #expect(answer.status == 403)
    #expect(answer.reason == "UnrelatedKeyIdInToken")
    #expect(try bench.send().status == 200)
  }

  @Test("a connection belongs to the team of its first push") func secondTeam() throws {
    let foreign = try P256SigningKey.generate()
    var bench = try PushBench(further: [PushBench.key("KEYFOREIGN", foreign, team: "TEAM999999")])
    #expect(try bench.send().status == 200)
    let token = try bench.bearer(kid: "KEYFOREIGN", team: "TEAM999999", by: foreign)
    #expect(try bench.send(authorization: token).reason == "InvalidProviderToken")
  }

  @Test("a key of one environment is refused by the other, in the wire's spelling") func environmentKeys() throws {
    let key = try P256SigningKey.generate()
    var bench = try PushBench(
      further: [PushBench.key("KEYPRODUCT", key, scope: .environment(.production))])
    let answer = try bench.send(authorization: bench.bearer(kid: "KEYPRODUCT", by: key))
    #expect(answer.status == 403)
    #expect(answer.reason == "BadEnvironmentKeyInToken")
  }

  @Test("a key made for topics sends to them only, and together with its related key") func topicKeys() throws {
    let (one, two) = (try P256SigningKey.generate(), try P256SigningKey.generate())
    var bench = try PushBench(
      further: [
        PushBench.key("KEYTOPIC01", one, scope: .topics([PushBench.topic], .sandbox, relatedKeyID: "KEYTOPIC02")),
        PushBench.key("KEYTOPIC02", two, scope: .topics(["com.example.b"], .sandbox, relatedKeyID: "KEYTOPIC01")),
      ])
    #expect(try bench.send(authorization: bench.bearer(kid: "KEYTOPIC01", by: one)).status == 200)
    let related = try bench.send(authorization: bench.bearer(kid: "KEYTOPIC02", by: two))
    #expect(related.reason == "TopicDisallowed")
    #expect(try bench.send().reason == "UnrelatedKeyIdInToken", "a team key after a topic key")
  }

  @Test("the scheme's case does not matter") func schemeCase() throws {
    var bench = try PushBench()
    let token = try bench.bearer()
    #expect(try bench.send(authorization: "Bearer" + token.dropFirst(6)).status == 200)
  }
}
