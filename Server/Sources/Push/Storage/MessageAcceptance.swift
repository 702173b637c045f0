package import PabalModel
package import PabalPrimitives

/// The number and id of a message that is about to be accepted. Made before the commit, because payloads carry ids.
package struct MessageIdentity: Hashable, Sendable {
  package var number: MessageNumber
  package var id: MessageID

  package init(number: MessageNumber, id: MessageID) {
    self.number = number
    self.id = id
  }
}

/// One line of a trace.
package struct TraceStep: Sendable {
  package var at: WallTime
  package var step: PipelineStep
  package var result: StepResult
  /// An object of facts, or `.null`. Holds no token, key or text.
  package var detail: JSONValue

  package init(at: WallTime, step: PipelineStep, result: StepResult, detail: JSONValue = .null) {
    self.at = at
    self.step = step
    self.result = result
    self.detail = detail
  }
}

/// What was decided for one user: a send when `reason` is `nil`.
package struct AcceptedDecision: Sendable {
  package var user: UserID
  package var reason: ReasonCode?
  package var steps: [TraceStep]

  package init(user: UserID, reason: ReasonCode? = nil, steps: [TraceStep]) {
    self.user = user
    self.reason = reason
    self.steps = steps
  }
}

/// One device of one decision.
package struct AcceptedDelivery: Sendable {
  package var user: UserID
  package var device: DeviceNumber
  /// `nil`: this device is left out, for `reason`; the delivery is `suppressed`.
  package var push: OutgoingPush?
  package var reason: ReasonCode?
  package var steps: [TraceStep]

  package init(
    user: UserID, device: DeviceNumber, push: OutgoingPush?, reason: ReasonCode? = nil, steps: [TraceStep] = []
  ) {
    self.user = user
    self.device = device
    self.push = push
    self.reason = reason
    self.steps = steps
  }
}

/// The rendered push. Kept sealed until the delivery's outcome, so that a restart can send what was accepted.
package struct OutgoingPush: Hashable, Sendable, Unprintable {
  package var payload: [UInt8]
  package var pushType: String
  package var priority: Int
  package var collapseID: String?

  package init(payload: [UInt8], pushType: String = "alert", priority: Int = 10, collapseID: String? = nil) {
    self.payload = payload
    self.pushType = pushType
    self.priority = priority
    self.collapseID = collapseID
  }
}

/// Everything that one accepted message writes, in one commit.
package struct MessageAcceptance: Sendable, Unprintable {
  /// Business dedupe: (app, mode, key, user) claimed by this message for `window`.
  package struct Dedupe: Sendable {
    package var key: String
    package var window: Duration

    package init(key: String, window: Duration) {
      self.key = key
      self.window = window
    }
  }

  /// Whether the deliveries leave at once or wait in the queue of unmarked ones.
  package enum Start: Sendable {
    /// Marked in the same commit; the caller sends them when ``AcceptanceResult/accepted(_:)`` returns.
    case marked
    /// Left for ``PushStorage/claimQueued(limit:at:)``.
    case queued
  }

  package var appMode: AppMode
  package var identity: MessageIdentity
  /// Name of the notification type, or `content`.
  package var type: String
  package var typeVersion: Int
  package var category: String?
  package var frequencyClass: String
  /// What brought it in: `guide` or `api`.
  package var source: String
  package var requestID: String?
  /// The caller's words, as JSON; kept sealed.
  package var content: [UInt8]
  package var createdAt: WallTime
  /// `nil`: as long as the provider keeps it.
  package var lifetime: PushLifetime?
  package var dedupe: Dedupe?
  package var decisions: [AcceptedDecision]
  package var deliveries: [AcceptedDelivery]
  package var seenChange: ChangeSequence
  package var start: Start

  package init(
    appMode: AppMode, identity: MessageIdentity, type: String, typeVersion: Int, category: String?,
    frequencyClass: String, source: String, requestID: String?, content: [UInt8], createdAt: WallTime,
    lifetime: PushLifetime?, dedupe: Dedupe?, decisions: [AcceptedDecision], deliveries: [AcceptedDelivery],
    seenChange: ChangeSequence, start: Start
  ) {
    self.appMode = appMode
    self.identity = identity
    self.type = type
    self.typeVersion = typeVersion
    self.category = category
    self.frequencyClass = frequencyClass
    self.source = source
    self.requestID = requestID
    self.content = content
    self.createdAt = createdAt
    self.lifetime = lifetime
    self.dedupe = dedupe
    self.decisions = decisions
    self.deliveries = deliveries
    self.seenChange = seenChange
    self.start = start
  }
}

/// What became of a message that was to be accepted.
package enum AcceptanceResult: Sendable {
  /// Committed. With `.marked`: the deliveries to send now; with `.queued`: empty.
  case accepted([OutgoingDelivery])
  /// Nothing was written: for these users an earlier message holds the claim.
  case duplicate([DuplicateClaim])
  /// Nothing was written: a user's devices or preferences changed since the snapshot. Decide anew.
  case stale
}

/// A user who has this message already, and under which id.
package struct DuplicateClaim: Hashable, Sendable {
  package var user: UserID
  package var heldBy: MessageID

  package init(user: UserID, heldBy: MessageID) {
    self.user = user
    self.heldBy = heldBy
  }
}

/// A marked delivery with all that a transport needs.
package struct OutgoingDelivery: Sendable {
  package var appMode: AppMode
  package var key: DeliveryKey
  package var id: DeliveryID
  package var messageID: MessageID
  package var user: UserID
  /// Canonical lower-case UUID, the same for every repeat.
  package var apnsID: String
  package var token: DeviceToken
  package var topic: Topic?
  package var environment: PushEnvironment?
  package var environmentIsLearned: Bool
  package var push: OutgoingPush
  package var lifetime: PushLifetime?
  /// Requests made for it so far.
  package var attempts: Int
  /// How often it has gone back to wait.
  package var postponements: Int

  package init(
    appMode: AppMode, key: DeliveryKey, id: DeliveryID, messageID: MessageID, user: UserID, apnsID: String,
    token: DeviceToken, topic: Topic?, environment: PushEnvironment?, environmentIsLearned: Bool,
    push: OutgoingPush, lifetime: PushLifetime?, attempts: Int = 0, postponements: Int = 0
  ) {
    self.appMode = appMode
    self.key = key
    self.id = id
    self.messageID = messageID
    self.user = user
    self.apnsID = apnsID
    self.token = token
    self.topic = topic
    self.environment = environment
    self.environmentIsLearned = environmentIsLearned
    self.push = push
    self.lifetime = lifetime
    self.attempts = attempts
    self.postponements = postponements
  }
}

/// What ``PushStorage/claimQueued(limit:at:)`` found.
package struct QueueClaim: Sendable {
  package struct Ended: Sendable {
    package var key: DeliveryKey
    package var state: DeliveryState
    package var reason: ReasonCode
    package var subject: DeliverySubject

    package init(key: DeliveryKey, state: DeliveryState, reason: ReasonCode, subject: DeliverySubject) {
      self.key = key
      self.state = state
      self.reason = reason
      self.subject = subject
    }
  }

  /// Marked, to be sent now.
  package var deliveries: [OutgoingDelivery]
  /// Ended instead: their time is over, or what they rest on has changed.
  package var ended: [Ended]
  /// When the next one that waits is due; in the past when more than the limit were. `nil`: none waits.
  package var nextDue: WallTime?

  package init(deliveries: [OutgoingDelivery] = [], ended: [Ended] = [], nextDue: WallTime? = nil) {
    self.deliveries = deliveries
    self.ended = ended
    self.nextDue = nextDue
  }
}

/// A delivery that was handed to a transport by a process that is no more.
package struct OpenMark: Sendable {
  package var appMode: AppMode
  package var key: DeliveryKey
  package var id: DeliveryID
  package var markedAt: WallTime
  /// Present when a repeat would replace itself (it has a collapse id), is not for one attempt only, and the device is
  /// still the user's.
  package var repeatable: OutgoingDelivery?

  package init(
    appMode: AppMode, key: DeliveryKey, id: DeliveryID, markedAt: WallTime, repeatable: OutgoingDelivery?
  ) {
    self.appMode = appMode
    self.key = key
    self.id = id
    self.markedAt = markedAt
    self.repeatable = repeatable
  }
}
