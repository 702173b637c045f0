/// One scripted fault: which requests it meets, how often, and what happens to them.
package struct FaultRule: Sendable {
  /// All given keys must hold.
  package struct Match: Sendable {
    package var device: String?
    package var token: [UInt8]?
    package var environment: StandInEnvironment?
    package var path: String?
    package var connection: Int?
    /// The n-th request, from 1, that meets the other keys.
    package var nth: Int?
    /// Every n-th request that meets the other keys.
    package var every: Int?
    /// With this probability, drawn from the seed.
    package var rate: Double?

    package init() {}
  }

  package enum LastStream: String, Sendable, CaseIterable {
    /// The highest stream worked on before this request, which is not worked on.
    case accepted
    /// This request's stream: everything is answered.
    case all
    /// 0: nothing was worked on.
    case none
  }

  package enum Closing: String, Sendable, CaseIterable {
    case now
    case drain
    case never
  }

  package enum Moment: String, Sendable, CaseIterable {
    case beforeTaken
    case afterTaken
  }

  package enum Effect: Sendable {
    /// This reply; the push reaches the inbox only with `taken`, and only if it was a good one.
    case status(Int, reason: String?, timestamp: Int64?, taken: Bool)
    case goaway(lastStream: LastStream, debug: [UInt8], close: Closing)
    /// RST_STREAM, before or after the push is taken.
    case reset(code: UInt32, Moment)
    /// RST_STREAM as soon as the headers are in; the body is not looked at.
    case resetAfterHeaders(code: UInt32)
    /// The head of the usual reply and half of its body; the stream is never ended.
    case halfReply
    /// From this request's body on, the connection is read so slowly.
    case slowRead(bytesPerSecond: Int)
    /// The connection is cut, before or after the push is taken.
    case drop(Moment)
    /// The usual reply, and after it a new stream limit.
    case streamLimit(Int)
    /// Replies of this connection wait so long, this one and all that come meanwhile.
    case silence(milliseconds: Int)
    /// The usual reply; for a rule that has only a delay.
    case usual
  }

  package var match: Match
  /// How often the rule acts; `nil` for no limit.
  package var times: Int?
  package var effect: Effect
  /// Milliseconds before the effect is seen.
  package var delay: Int

  package init(match: Match = Match(), times: Int? = nil, effect: Effect, delay: Int = 0) {
    self.match = match
    self.times = times
    self.effect = effect
    self.delay = delay
  }

  /// Error codes of RFC 9113 section 7 by name.
  package static let resetCodes: [(name: String, code: UInt32)] = [
    ("NO_ERROR", 0x0), ("PROTOCOL_ERROR", 0x1), ("INTERNAL_ERROR", 0x2), ("FLOW_CONTROL_ERROR", 0x3),
    ("SETTINGS_TIMEOUT", 0x4), ("STREAM_CLOSED", 0x5), ("FRAME_SIZE_ERROR", 0x6), ("REFUSED_STREAM", 0x7),
    ("CANCEL", 0x8), ("COMPRESSION_ERROR", 0x9), ("CONNECT_ERROR", 0xa), ("ENHANCE_YOUR_CALM", 0xb),
    ("INADEQUATE_SECURITY", 0xc), ("HTTP_1_1_REQUIRED", 0xd),
  ]

  /// Whether the rule has to be found before the body of a request is in.
  var actsOnHeaders: Bool {
    switch effect {
    case .resetAfterHeaders, .slowRead: true
    default: false
    }
  }
}
