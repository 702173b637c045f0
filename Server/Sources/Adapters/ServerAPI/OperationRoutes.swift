package import HTTPServer
import Observability
import PabalPrimitives

// What operators and their machines ask. No key is looked at: put these on a port of their own where that matters.
extension PushAPI {
  /// `/healthz`, `/readyz`, `/version`, `/metrics`.
  package var operationRoutes: [Route] {
    [
      route(
        .get, "/healthz", .anyone,
        RouteOperation(
          "health", "The process lives; touches nothing else", tag: "Operation",
          replies: [RouteOperation.Reply(200, "`ok`", schema: ["type": "string"], contentType: "text/plain")])
      ) { _, _ in .text(200, "ok\n") },
      route(
        .get, "/readyz", .anyone,
        RouteOperation(
          "readiness", "Whether requests are served, check by check", tag: "Operation",
          replies: [
            RouteOperation.Reply(200, "Ready, or degraded"), RouteOperation.Reply(503, "Not ready, or draining"),
          ])
      ) { _, _ in await readiness() },
      route(
        .get, "/version", .anyone,
        RouteOperation("version", "What runs", tag: "Operation", replies: [RouteOperation.Reply(200, "The version")])
      ) { _, _ in .json(200, ["name": "pabal", "version": .string(configuration.version)]) },
      route(
        .get, "/metrics", .anyone,
        RouteOperation(
          "metrics", "Prometheus text", tag: "Operation",
          replies: [RouteOperation.Reply(200, "Metrics", schema: ["type": "string"], contentType: "text/plain")])
      ) { _, _ in
        await configuration.beforeMetrics()
        return .text(200, configuration.metrics.text, contentType: "text/plain; version=0.0.4; charset=utf-8")
      },
    ]
  }

  private func readiness() async -> HTTPResponse {
    let readiness = await configuration.readiness()
    let isDegraded = readiness.checks.contains { !$0.isOK }
    let checks = readiness.checks.map { check in
      JSONMember(
        check.name,
        .compact([
          "ok": .bool(check.isOK), "required": check.isRequired ? .null : false, "reason": JSONValue(check.reason),
        ]))
    }
    let status = readiness.isReady ? (isDegraded ? "degraded" : "ok") : "unready"
    return .json(readiness.isReady ? 200 : 503, ["status": .string(status), "checks": .object(checks)])
  }
}
