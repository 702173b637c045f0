package import HTTPServer
package import Observability
import PabalPrimitives

/// The API's metrics: names and labels under test, so that dashboards do not break. Labels are closed sets.
package enum APIMetrics {
  static let requests = "pabal_http_requests_total"
  static let duration = "pabal_http_request_duration_seconds"
  static let inFlight = "pabal_http_requests_in_flight"
  static let messages = "pabal_messages_total"
  static let decisions = "pabal_decisions_total"
  static let deviceChanges = "pabal_device_changes_total"
  static let events = "pabal_sdk_events_total"
  static let openDelay = "pabal_open_delay_seconds"
  static let payload = "pabal_payload_bytes"

  package static let declarations: [Metrics.Declaration] = [
    Metrics.Declaration(
      requests, .counter, help: "Requests answered.", labels: ["route", "method", "code"]),
    Metrics.Declaration(
      duration, .histogram, help: "From the request line to the reply.", labels: ["route", "method"],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]),
    Metrics.Declaration(inFlight, .gauge, help: "Requests begun and not answered."),
    Metrics.Declaration(
      messages, .counter, help: "Messages accepted.", labels: ["mode", "source", "type", "state"]),
    Metrics.Declaration(
      decisions, .counter, help: "Users and devices left out, by reason.", labels: ["mode", "stage", "reason", "type"]),
    Metrics.Declaration(
      deviceChanges, .counter, help: "Changes of the registry.", labels: ["change", "reason"]),
    Metrics.Declaration(events, .counter, help: "Reports of devices taken.", labels: ["kind"]),
    Metrics.Declaration(
      openDelay, .histogram, help: "From a message's acceptance to the first report that it was opened.",
      labels: ["class"], buckets: [1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400, 604_800]),
    Metrics.Declaration(
      payload, .histogram, help: "Bytes of rendered payloads.", labels: ["provider"],
      buckets: [256, 512, 1024, 2048, 4096]),
  ]

  /// Hooks for a `WebServer` that counts its requests in `metrics`.
  package static func hooks(_ metrics: Metrics) -> WebServerHooks {
    for declaration in declarations { metrics.declare(declaration) }
    let open = Locked(0.0)
    return WebServerHooks(
      started: {
        metrics.set(
          inFlight,
          to: open.withLock {
            $0 += 1; return $0
          })
      },
      answered: { answered in
        let method = answered.method?.rawValue ?? "other"
        metrics.add(to: requests, [answered.route, method, String(answered.status)])
        metrics.observe(answered.duration.seconds, in: duration, [answered.route, method])
        metrics.set(
          inFlight,
          to: open.withLock {
            $0 -= 1; return $0
          })
      })
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
