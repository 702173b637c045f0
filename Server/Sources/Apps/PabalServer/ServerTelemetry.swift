import APNs
import Observability
import PabalModel
import PabalPrimitives
import ProviderTransport
import Storage

/// What the server counts and logs of its sending. No token, key, id or text is a label; tokens and texts are no field.
struct ServerTelemetry: Sendable {
  private static let deliveries = "pabal_deliveries_total"
  private static let acceptSeconds = "pabal_queue_to_accept_seconds"
  private static let retries = "pabal_retries_total"
  private static let attempts = "pabal_attempts_total"
  private static let attemptSeconds = "pabal_attempt_duration_seconds"
  private static let hygiene = "pabal_device_hygiene_total"
  private static let inFlight = "pabal_deliveries_in_flight"
  private static let storeFailures = "pabal_store_failures_total"
  private static let buildInfo = "pabal_build_info"

  let metrics: Metrics
  let log: Log

  init(metrics: Metrics, log: Log, version: String) {
    self.metrics = metrics
    self.log = log
    let declarations = [
      Metrics.Declaration(
        Self.deliveries, .counter, help: "Deliveries that ended.",
        labels: ["mode", "provider", "platform", "class", "state", "reason"]),
      Metrics.Declaration(
        Self.acceptSeconds, .histogram, help: "From the request to the provider's yes.", labels: ["class"],
        buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 15, 60, 300, 900, 3600]),
      Metrics.Declaration(
        Self.retries, .counter, help: "Deliveries that went back to wait.", labels: ["provider", "reason"]),
      Metrics.Declaration(
        Self.attempts, .counter, help: "Requests to a provider, by their last answer.",
        labels: ["provider", "environment", "status", "reason"]),
      Metrics.Declaration(
        Self.attemptSeconds, .histogram, help: "From hand-over to outcome.", labels: ["provider", "environment"],
        buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]),
      Metrics.Declaration(Self.hygiene, .counter, help: "What outcomes did to devices.", labels: ["result"]),
      Metrics.Declaration(Self.inFlight, .gauge, help: "Deliveries handed over whose outcome is not recorded yet."),
      Metrics.Declaration(Self.storeFailures, .counter, help: "Commits that the store refused.", labels: ["code"]),
      Metrics.Declaration(Self.buildInfo, .gauge, help: "What runs.", labels: ["version"]),
    ]
    for declaration in declarations { metrics.declare(declaration) }
    metrics.set(Self.buildInfo, [version], to: 1)
  }

  func watch(inFlight: @escaping @Sendable () -> Int) {
    metrics.onCollect { $0.set(Self.inFlight, to: Double(inFlight())) }
  }

  func attempted(_ outcome: APNsOutcome, environment: PushEnvironment) {
    guard outcome.attempts > 0 else { return }
    metrics.add(
      to: Self.attempts,
      ["apns", environment.rawValue, outcome.status.map(String.init) ?? "none", Self.label(outcome.reason)])
    metrics.observe(
      Double(outcome.duration.nanosecondsClamped) / 1e9, in: Self.attemptSeconds, ["apns", environment.rawValue])
  }

  func recorded(_ outcome: DeliveryOutcome, _ result: OutcomeResult) {
    guard result.isRecorded else { return }
    guard outcome.retryAt == nil else { return metrics.add(to: Self.retries, ["apns", Self.label(outcome.reason)]) }
    count(outcome.state, outcome.reason, result.subject)
    if outcome.state == .accepted, let subject = result.subject {
      metrics.observe(
        Double(subject.since.duration(to: outcome.at).nanosecondsClamped) / 1e9, in: Self.acceptSeconds,
        [subject.frequencyClass])
    }
    metrics.add(to: Self.hygiene, [result.hygiene.label])
    log.event(
      "delivery.ended", "A delivery has its outcome", level: .debug,
      [
        "state": .string(outcome.state.rawValue), "reason": JSONValue(outcome.reason?.rawValue),
        "status": JSONValue(outcome.attempts.last?.status), "apns_id": JSONValue(outcome.attempts.last?.apnsID),
        "hygiene": .string(result.hygiene.label),
      ])
  }

  /// Ended in the store, without a hand-over.
  func ended(_ ended: QueueClaim.Ended) {
    count(ended.state, ended.reason, ended.subject)
  }

  private func count(_ state: DeliveryState, _ reason: ReasonCode?, _ subject: DeliverySubject?) {
    metrics.add(
      to: Self.deliveries,
      [
        "test", "apns", subject?.platform?.rawValue ?? "none", subject?.frequencyClass ?? "none", state.rawValue,
        Self.label(reason),
      ])
  }

  func unsendable(_ delivery: OutgoingDelivery, _ error: APNsRequestError) {
    log.event(
      "delivery.unsendable", "A stored push is not fit to be sent", level: .error,
      ["delivery_id": .string(delivery.id.rawValue), "error_code": .string(error.code)])
  }

  func storeRefused(_ error: StorageError) {
    metrics.add(to: Self.storeFailures, [error.code])
    log.event(
      "store.refused", "The store refused outcomes; they are kept and tried again", level: .error,
      ["error_code": .string(error.code)])
  }

  func recovered(unknown: Int, repeated: Int, queued: Int) {
    log.event(
      "server.recovered", "What an earlier process left was settled", level: .info,
      ["unknown": .int(Int64(unknown)), "repeated": .int(Int64(repeated)), "queued": .int(Int64(queued))])
  }

  func answered(method: String, route: String, status: Int, requestID: String, duration: Duration) {
    log.event(
      "http.answered", "A request was answered", level: .info,
      [
        "method": .string(method), "route": .string(route), "code": .int(Int64(status)),
        "request_id": .string(requestID), "duration_s": .double(Double(duration.nanosecondsClamped) / 1e9),
      ])
  }

  func stage(_ name: StaticString, _ message: StaticString) {
    log.event(name, message, level: .info)
  }

  /// A closed set: our own words and Apple's known ones; the rest is `apns.other`.
  private static func label(_ reason: ReasonCode?) -> String {
    guard let reason else { return "none" }
    guard let word = reason.apnsReason else { return reason.rawValue }
    return APNsReason.table.contains { $0.reason.rawValue == word } ? reason.rawValue : "apns.other"
  }
}

extension TokenHygiene {
  fileprivate var label: String {
    switch self {
    case .none: "none"
    case .environmentLearned: "environment_learned"
    case .deactivated: "deactivated"
    case .keptReregistered: "kept_reregistered"
    case .keptEnvironmentUnknown: "kept_environment_unknown"
    case .keptTokenReplaced: "kept_token_replaced"
    }
  }
}
