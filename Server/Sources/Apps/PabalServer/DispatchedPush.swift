import APNs
import PabalModel
import PabalPrimitives
import ProviderTransport
import Storage

// Between what the store knows of a delivery and what a transport wants and tells.
extension APNsPush {
  /// How long a push for one attempt may wait for a connection.
  private static let onlyAttemptWait = Duration.seconds(30)

  /// One request at most that is answered with "later": the server's own retries come from the store.
  init(_ delivery: OutgoingDelivery, tag: UInt64, now: WallTime) throws(APNsRequestError) {
    let type = APNsPushType(rawValue: delivery.push.pushType)
    guard let topic = delivery.topic else {
      throw APNsRequestError(code: "header_invalid", message: "The device has no topic; register it with a bundle id.")
    }
    let head = try APNsHead(
      topic: topic, pushType: type, priority: APNsPriority(rawValue: delivery.push.priority),
      expiration: try delivery.lifetime.map { lifetime throws(APNsRequestError) in
        try lifetime.end.map { time throws(APNsRequestError) in try APNsExpiration(unixSeconds: time.seconds) }
          ?? .attemptOnce
      }, collapseID: delivery.push.collapseID)
    let payload = try APNsPayload(checking: delivery.push.payload, for: type)
    self.init(
      tag: tag, request: APNsRequest(token: delivery.token, head: head, payload: payload),
      apnsID: try APNsID(checking: delivery.apnsID),
      expiresAt: delivery.lifetime.map { $0.end ?? now.advanced(by: Self.onlyAttemptWait) }, attemptLimit: 1)
  }
}

extension AttemptRecord {
  /// `nil` when no byte of it can have reached the provider.
  init?(
    _ outcome: APNsOutcome, number: Int, environment: PushEnvironment, startedAt: WallTime
  ) {
    guard outcome.attempts > 0 else { return nil }
    self.init(
      number: number + outcome.attempts, startedAt: startedAt, duration: outcome.duration, environment: environment,
      status: outcome.status, reason: outcome.reason?.apnsReason, tokenDeadSince: outcome.timestamp,
      apnsID: outcome.apnsID.description, apnsUniqueID: outcome.apnsUniqueID, connection: "c\(outcome.connection)")
  }
}
