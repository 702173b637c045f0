import PabalModel
import PabalPrimitives
import Storage

/// A send as the guide's backend reads it: how many devices took it, and what became of the rest.
struct GuideTally: Sendable, Equatable {
  var sent = 0
  var failed = 0
  var pending = 0
  var unknown = 0
  var suppressed = 0
  /// The user's reason, or the one that all his deliveries share.
  var reason: ReasonCode?

  init(_ deliveries: [DeliveryRecord], decision: DecisionRecord?) {
    for delivery in deliveries {
      switch delivery.state {
      case .accepted: sent += 1
      case .rejected, .expired: failed += 1
      case .queued, .held, .sending, .retrying: pending += 1
      case .unknown: unknown += 1
      case .suppressed, .canceled: suppressed += 1
      }
    }
    reason = decision?.reason
    if reason == nil, let first = deliveries.first?.reason, deliveries.allSatisfy({ $0.reason == first }) {
      reason = first
    }
    if decision?.reason != nil { suppressed += Self.activeDevices(decision) }
  }

  var devices: Int { sent + failed + pending + unknown + suppressed }

  /// The guide knows one word for both: nobody to tell.
  private var isWithoutDevice: Bool { reason == .noDevices || reason == .userUnknown }

  /// - Parameter warnings: an array, or null.
  func answer(_ message: MessageID, isDuplicate: Bool, warnings: JSONValue) -> JSONValue {
    let isSuppressed = sent + failed + pending + unknown == 0
    let status = isSuppressed ? "suppressed" : pending > 0 ? "sending" : "completed"
    let isFailure = isWithoutDevice || reason == .credentialMissing
    return .compact([
      "success": .bool(!isFailure),
      "message": isWithoutDevice ? "등록된 디바이스 없음" : .null,
      "error": reason == .credentialMissing ? "No APNs key is set up for this app." : .null,
      "sent": .int(Int64(sent)), "failed": .int(Int64(failed)), "pending": .int(Int64(pending)),
      "unknown": .int(Int64(unknown)), "suppressed": .int(Int64(suppressed)), "devices": .int(Int64(devices)),
      "messageId": .string(message.rawValue), "status": .string(status),
      "reason": JSONValue(isWithoutDevice ? ReasonCode.noDevices.rawValue : reason?.rawValue),
      "duplicate": .bool(isDuplicate), "warnings": warnings,
    ])
  }

  /// What the decision counted, for users who were stopped after their devices were known, or before.
  private static func activeDevices(_ decision: DecisionRecord?) -> Int {
    let detail = decision?.steps.first { $0.step == .devices }?.detail
    guard case .object(let members) = detail,
      case .int(let active) = members.first(where: { $0.name == "active" })?.value
    else { return 0 }
    return Int(active)
  }
}
