package import PabalModel
package import PabalPrimitives

/// An accepted message with the number of its deliveries in each state.
package struct MessageRecord: Sendable, Unprintable {
  package var identity: MessageIdentity
  package var type: String
  package var typeVersion: Int
  package var category: String?
  package var frequencyClass: String
  package var source: String
  package var requestID: String?
  /// The caller's words, as JSON.
  package var content: [UInt8]
  package var createdAt: WallTime
  package var lifetime: PushLifetime?
  /// One per addressed user, in the order of acceptance.
  package var decisions: [DecisionRecord]
  /// How many deliveries are in each state; states with none are absent.
  package var counts: [DeliveryState: Int]

  package init(
    identity: MessageIdentity, type: String, typeVersion: Int, category: String?, frequencyClass: String,
    source: String, requestID: String?, content: [UInt8], createdAt: WallTime, lifetime: PushLifetime?,
    decisions: [DecisionRecord], counts: [DeliveryState: Int]
  ) {
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
    self.decisions = decisions
    self.counts = counts
  }

  package var summary: MessageSummary {
    MessageSummary(
      identity: identity, type: type, category: category, source: source, requestID: requestID, createdAt: createdAt,
      lifetime: lifetime, decisions: Dictionary(decisions.map { ($0.reason, 1) }, uniquingKeysWith: +),
      counts: counts)
  }
}

/// A message in numbers, as a list shows it: nobody is named and no word opened, so that a page of messages to a
/// thousand users each is read quickly.
package struct MessageSummary: Hashable, Sendable {
  package var identity: MessageIdentity
  package var type: String
  package var category: String?
  package var source: String
  package var requestID: String?
  package var createdAt: WallTime
  package var lifetime: PushLifetime?
  /// How many of the addressed users were decided for each reason, `nil` being those it is sent to; reasons with none
  /// are absent.
  package var decisions: [ReasonCode?: Int]
  /// How many deliveries are in each state; states with none are absent.
  package var counts: [DeliveryState: Int]

  package init(
    identity: MessageIdentity, type: String, category: String?, source: String, requestID: String?,
    createdAt: WallTime, lifetime: PushLifetime?, decisions: [ReasonCode?: Int], counts: [DeliveryState: Int]
  ) {
    self.identity = identity
    self.type = type
    self.category = category
    self.source = source
    self.requestID = requestID
    self.createdAt = createdAt
    self.lifetime = lifetime
    self.decisions = decisions
    self.counts = counts
  }

  /// Whether every delivery has ended.
  package var isComplete: Bool { counts.keys.allSatisfy(\.isTerminal) }
}

/// What was decided for one user, and the steps that led there.
package struct DecisionRecord: Sendable {
  package var user: UserID
  /// `nil`: sent.
  package var reason: ReasonCode?
  package var steps: [TraceStep]

  package init(user: UserID, reason: ReasonCode?, steps: [TraceStep]) {
    self.user = user
    self.reason = reason
    self.steps = steps
  }
}

/// One delivery as it stands now.
package struct DeliveryRecord: Sendable {
  package var key: DeliveryKey
  package var id: DeliveryID
  package var messageID: MessageID
  package var user: UserID
  package var device: DeviceID
  package var state: DeliveryState
  package var reason: ReasonCode?
  package var createdAt: WallTime
  package var updatedAt: WallTime
  package var attempts: [AttemptRecord]
  /// Reports of the device, oldest first.
  package var events: [EventRecord]

  package init(
    key: DeliveryKey, id: DeliveryID, messageID: MessageID, user: UserID, device: DeviceID, state: DeliveryState,
    reason: ReasonCode?, createdAt: WallTime, updatedAt: WallTime, attempts: [AttemptRecord],
    events: [EventRecord]
  ) {
    self.key = key
    self.id = id
    self.messageID = messageID
    self.user = user
    self.device = device
    self.state = state
    self.reason = reason
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.attempts = attempts
    self.events = events
  }
}

/// What is known about one user and one message.
package struct UserExplanation: Sendable {
  package var message: MessageRecord
  /// `nil`: the message was not addressed to this user.
  package var decision: DecisionRecord?
  package var traces: [DeliveryTrace]

  package init(message: MessageRecord, decision: DecisionRecord?, traces: [DeliveryTrace]) {
    self.message = message
    self.decision = decision
    self.traces = traces
  }
}

/// How many devices of a platform have a status.
package struct DeviceCount: Hashable, Sendable {
  package var platform: Platform
  package var status: DeviceRecord.Status
  package var count: Int

  package init(platform: Platform, status: DeviceRecord.Status, count: Int) {
    self.platform = platform
    self.status = status
    self.count = count
  }
}

/// How much there is of everything, for metrics and `pabal status`.
package struct StorageCounts: Hashable, Sendable {
  package var users: Int
  package var activeDevices: Int
  package var inactiveDevices: Int
  package var messages: Int
  package var deliveries: [DeliveryState: Int]

  package init(
    users: Int, activeDevices: Int, inactiveDevices: Int, messages: Int, deliveries: [DeliveryState: Int]
  ) {
    self.users = users
    self.activeDevices = activeDevices
    self.inactiveDevices = inactiveDevices
    self.messages = messages
    self.deliveries = deliveries
  }
}
