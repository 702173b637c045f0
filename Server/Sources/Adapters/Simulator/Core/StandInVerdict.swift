/// A refusal: the reason on the wire, and for the log what exactly was wrong.
struct Refusal: Error {
  let reason: StandInReason
  let timestamp: Int64?
  let detail: String

  init(_ reason: StandInReason, timestamp: Int64? = nil, _ detail: String) {
    self.reason = reason
    self.timestamp = timestamp
    self.detail = detail
  }
}

/// A push that passed every check.
struct GoodPush {
  let device: Int
  let topic: String
  let pushType: String?
  let priority: Int
  let expiration: Int64?
  let collapseID: String?
}

/// What the checks said, with the ids of the reply.
struct Receipt {
  let verdict: Result<GoodPush, Refusal>
  let apnsID: String
  let uniqueID: String?
  let at: Int64

  var isGood: Bool {
    if case .success = verdict { true } else { false }
  }

  /// Index of the device that a good push is for.
  var device: Int? {
    if case .success(let good) = verdict { good.device } else { nil }
  }

  var outcome: Outcome {
    switch verdict {
    case .success: Outcome(status: 200, reason: nil, timestamp: nil, detail: nil)
    case .failure(let refusal):
      Outcome(
        status: refusal.reason.status, reason: refusal.reason.word, timestamp: refusal.timestamp,
        detail: refusal.detail)
    }
  }
}

/// On whose behalf a push comes.
enum Principal {
  case key(StandInKey)
  case certificate(StandInCertificate)
}

/// What a reply says.
struct Outcome {
  let status: Int
  let reason: String?
  let timestamp: Int64?
  let detail: String?
}
