package import PabalPrimitives

/// Starts, updates or ends a Live Activity (Apple, "Starting and updating Live Activities with ActivityKit push
/// notifications"). Each event has the members that Apple asks for, and no others.
package struct APNsLiveActivity: APNsNotification {
  package static let pushType = APNsPushType.liveactivity

  package enum Event: Sendable, Equatable {
    /// To the push-to-start token.
    case start(Start)
    /// To the activity's own token.
    case update(Update)
    case end(End)
  }

  /// What the system decodes into the activity's `ContentState`; always an object. Dates are seconds since 2001.
  package typealias State = [JSONMember]

  package struct Start: Sendable, Equatable {
    /// How the device hears of updates afterwards.
    package enum Updates: Sendable, Equatable {
      /// As the app asks for it.
      case byApp
      /// Subscribes to a broadcast channel; iOS 18, older systems do not start the activity.
      case fromChannel(String)
      /// Sends the app a token for updates; iOS 18, older systems do not start the activity.
      case withNewToken
    }

    /// Name of the Swift type.
    package var attributesType: String
    package var attributes: [JSONMember]
    package var state: State
    package var alert: Alert
    package var staleDate: WallTime?
    package var relevanceScore: Double?
    package var updates: Updates

    package init(
      attributesType: String, attributes: [JSONMember], state: State, alert: Alert, staleDate: WallTime? = nil,
      relevanceScore: Double? = nil, updates: Updates = .byApp
    ) {
      self.attributesType = attributesType
      self.attributes = attributes
      self.state = state
      self.alert = alert
      self.staleDate = staleDate
      self.relevanceScore = relevanceScore
      self.updates = updates
    }
  }

  package struct Update: Sendable, Equatable {
    package var state: State
    package var alert: Alert?
    package var staleDate: WallTime?
    package var relevanceScore: Double?

    package init(
      state: State, alert: Alert? = nil, staleDate: WallTime? = nil, relevanceScore: Double? = nil
    ) {
      self.state = state
      self.alert = alert
      self.staleDate = staleDate
      self.relevanceScore = relevanceScore
    }
  }

  package struct End: Sendable, Equatable {
    /// What is shown until it disappears; `nil`: the last one.
    package var state: State?
    package var alert: Alert?
    /// `nil`: within four hours; a time that is past: at once.
    package var dismissalDate: WallTime?

    package init(state: State? = nil, alert: Alert? = nil, dismissalDate: WallTime? = nil) {
      self.state = state
      self.alert = alert
      self.dismissalDate = dismissalDate
    }
  }

  /// Unlike that of other pushes, this alert has its sound inside.
  package struct Alert: Sendable, Equatable {
    package var title: APNsText
    package var body: APNsText
    package var sound: String?

    package init(title: APNsText, body: APNsText, sound: String? = nil) {
      self.title = title
      self.body = body
      self.sound = sound
    }
  }

  /// 10 counts against a budget of each hour that Apple does not publish; 5 does not.
  package enum Urgency: Sendable, Hashable {
    case immediate, conserving
  }

  package var event: Event
  /// When the event happened: the device drops what is older than what it shows.
  package var timestamp: WallTime
  package var urgency: Urgency
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(
    _ event: Event, timestamp: WallTime, urgency: Urgency = .immediate, expiration: APNsExpiration? = nil
  ) {
    self.event = event
    self.timestamp = timestamp
    self.urgency = urgency
    self.expiration = expiration
  }

  package var priority: APNsPriority { urgency == .immediate ? .immediate : .conserving }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    let specific =
      switch event {
      case .start(let start): try members(start)
      case .update(let update): try members(update)
      case .end(let end): try members(end)
      }
    let aps = JSONValue.object([JSONMember("timestamp", .int(timestamp.seconds))] + specific)
    return try .joining(aps: aps, custom: [], for: Self.pushType)
  }
}

extension APNsLiveActivity {
  private func members(_ start: Start) throws(APNsRequestError) -> [JSONMember] {
    guard !start.attributesType.isEmpty else {
      throw .payload("attributes-type is empty. Give the name of the Swift type of the activity's attributes.")
    }
    var members = [JSONMember("event", "start"), JSONMember("content-state", try object(start.state))]
    members += [
      JSONMember("attributes-type", .string(start.attributesType)),
      JSONMember("attributes", try object(start.attributes)), JSONMember("alert", start.alert.json),
    ]
    members += optional(staleDate: start.staleDate, relevanceScore: start.relevanceScore)
    switch start.updates {
    case .byApp: break
    case .fromChannel(let channel): members.append(JSONMember("input-push-channel", .string(channel)))
    case .withNewToken: members.append(JSONMember("input-push-token", 1))
    }
    return members
  }

  private func members(_ update: Update) throws(APNsRequestError) -> [JSONMember] {
    [JSONMember("event", "update"), JSONMember("content-state", try object(update.state))]
      + (update.alert.map { [JSONMember("alert", $0.json)] } ?? [])
      + optional(staleDate: update.staleDate, relevanceScore: update.relevanceScore)
  }

  private func members(_ end: End) throws(APNsRequestError) -> [JSONMember] {
    var members = [JSONMember("event", "end")]
    if let state = end.state { members.append(JSONMember("content-state", try object(state))) }
    if let alert = end.alert { members.append(JSONMember("alert", alert.json)) }
    if let date = end.dismissalDate { members.append(JSONMember("dismissal-date", .int(date.seconds))) }
    return members
  }

  private func optional(staleDate: WallTime?, relevanceScore: Double?) -> [JSONMember] {
    (staleDate.map { [JSONMember("stale-date", .int($0.seconds))] } ?? [])
      + (relevanceScore.map { [JSONMember("relevance-score", .double($0))] } ?? [])
  }

  private func object(_ members: [JSONMember]) throws(APNsRequestError) -> JSONValue {
    guard Set(members.map(\.name)).count == members.count else {
      throw .payload("Two members of an activity's state or attributes have the same name. Give each once.")
    }
    return .object(members)
  }
}

extension APNsLiveActivity.Alert {
  var json: JSONValue {
    .compact(["title": title.liveActivityValue, "body": body.liveActivityValue, "sound": JSONValue(sound)])
  }
}
