import APNs
import ArgumentParsing
import EventLoop
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import ServerAPI
import TLS

/// TLS, HTTP/2 and the key, on a connection of its own.
struct DoctorProbe {
  private let credential: APNsCredential?
  private let topic: String?
  private let context: CommandContext

  init(_ credential: APNsCredential?, _ command: ParsedCommand, _ context: CommandContext) {
    self.credential = credential
    // A certificate names its app.
    topic = command.value(SendOptions.topic) ?? credential?.topics?.first?.rawValue
    self.context = context
  }

  /// - Throws: what keeps an event loop from starting, or a certificate from being shown.
  func run(_ endpoint: Endpoint, _ trust: TLSTrust) async throws -> [DoctorCheck] {
    let tls =
      try credential.map { try TLSClientContext(trust: trust, credential: $0) } ?? TLSClientContext(trust: trust)
    let place = endpoint.description
    let log = credential.flatMap { ProbeLog(endpoint, $0, topic: topic ?? "", context) }
    let earlier = log?.recent()
    var request: ProbeRequest?
    var skipped = earlier.map { Self.tooSoon($0, place) }
    if credential == nil {
      skipped = Self.noKey(place)
    } else if topic == nil {
      skipped = Self.noTopic(place)
    } else if earlier == nil {
      request = try probeRequest()
    }
    let loop = try UVLoop(clock: context.clock)
    defer { loop.stop() }
    let result = await ProbeExchange.run(HTTP2ClientConfiguration(endpoint: endpoint, tls: tls), request, on: loop)
    var checks = Self.connection(result, place)
    guard result.isReady else { return checks }
    if let skipped { checks.append(skipped) }
    if request != nil {
      checks.append(Self.verdict(result, place))
      if let reply = result.reply { log?.write(reply) }
    }
    return checks
  }

  private func probeRequest() throws -> ProbeRequest? {
    guard let credential, let topic else { return nil }
    let head = try APNsHead(topic: Topic(rawValue: topic), pushType: .alert, expiration: .attemptOnce)
    var headers = head.headers.map { ($0.name, $0.value) }
    if case .token(let key) = credential {
      headers.append(("authorization", "bearer \(try key.token(at: context.clock.wall(), unwanted: []).text)"))
    }
    return ProbeRequest(
      headers: headers,
      apnsID: APNsID(octets: context.randomness.fill(16)).description)
  }

  private static func connection(_ result: ProbeResult, _ place: String) -> [DoctorCheck] {
    if result.isReady {
      return [
        DoctorCheck("tls", at: place, .ok, Sentence("certificate verified", "인증서 확인됨")),
        DoctorCheck(
          "http2", at: place, .ok,
          Sentence(
            "h2 agreed, \(result.milliseconds) ms, \(result.streams) streams allowed so far",
            "h2 합의, \(result.milliseconds) ms, 현재 허용 스트림 \(result.streams)개")),
      ]
    }
    guard let error = result.error else {
      return [DoctorCheck("tls", at: place, .failed, Sentence("no answer", "응답 없음"))]
    }
    let entry = Glossary.find(error.code)
    let isHTTP2 = error.code == "alpn_missing" || error.code == "http2_protocol_error"
    return [
      DoctorCheck(
        isHTTP2 ? "http2" : "tls", at: place, .failed,
        Sentence(error.message, "\(entry?.what.korean ?? "") (\(error.code))"), do: entry?.advice)
    ]
  }

  /// What the answer to the impossible token says of the key.
  private static func verdict(_ result: ProbeResult, _ place: String) -> DoctorCheck {
    guard let reply = result.reply else {
      return DoctorCheck(
        "key", at: place, .failed,
        Sentence("APNs did not answer the probe within 15 s.", "APNs가 15초 안에 답하지 않았습니다."),
        do: Sentence("Try again in a minute.", "1분 뒤에 다시 시도하세요."))
    }
    let name = reply.reasonCode?.apnsReason ?? String(reply.status)
    switch reply.verdict {
    case .tokenSuspect, .tokenDead:
      return DoctorCheck(
        "key", at: place, .ok,
        Sentence("accepted (probe: \(name), as expected)", "키가 접수됨(시험 결과 \(name), 예상대로)"))
    case .accepted:
      return DoctorCheck(
        "key", at: place, .warning,
        Sentence("a push to an impossible token was taken", "있을 수 없는 토큰으로 보낸 푸시가 접수되었습니다"),
        do: Sentence("Check that this is APNs: it should refuse it.", "APNs가 맞는지 확인하세요. 거부해야 합니다."))
    default:
      let words = reply.reasonCode.map(ReasonSentence.of)
      let detail = words?.what ?? Sentence("refused", "거부됨")
      return DoctorCheck(
        "key", at: place, .failed,
        Sentence("\(reply.status) \(name): \(detail.english)", "\(reply.status) \(name): \(detail.korean)"),
        do: words?.advice)
    }
  }

  private static func noKey(_ place: String) -> DoctorCheck {
    DoctorCheck(
      "key", at: place, .skipped,
      Sentence("no key given (--p8 and --team, or --p12)", "키를 주지 않음(--p8과 --team, 또는 --p12)"))
  }

  private static func noTopic(_ place: String) -> DoctorCheck {
    DoctorCheck(
      "key", at: place, .skipped,
      Sentence("not tried: give the app with --topic BUNDLE", "시험하지 않음. --topic BUNDLE로 앱을 지정하세요"))
  }

  private static func tooSoon(_ earlier: ProbeLog.Entry, _ place: String) -> DoctorCheck {
    DoctorCheck(
      "key", at: place, .skipped,
      Sentence(
        "tried \(earlier.secondsAgo) s ago (\(earlier.outcome)); at most once a minute",
        "\(earlier.secondsAgo)초 전에 시험함(\(earlier.outcome)). 1분에 한 번만 시험합니다"))
  }
}
