package import PabalModel
package import PabalPrimitives

/// What APNs answered, and what that asks of the sender.
package struct APNsReply: Hashable, Sendable {
  package let status: Int
  /// Apple's word, whatever it is; `nil` when the body had none.
  package let reason: String?
  /// Since when the token is not valid for the topic; on 410 only.
  package let timestamp: WallTime?
  package let verdict: APNsVerdict

  /// Reads status and body. Members beside `reason` and `timestamp` are ignored, a body that is not JSON is no reason.
  ///
  /// `timestamp` is in milliseconds (Apple, "Handling notification responses from APNs").
  package static func classify(status: Int, body: [UInt8]) -> APNsReply {
    guard status != 200 else {
      return APNsReply(status: status, reason: nil, timestamp: nil, verdict: .accepted)
    }
    let (reason, timestamp) = read(body)
    return APNsReply(
      status: status, reason: reason, timestamp: timestamp, verdict: verdict(status: status, reason: reason))
  }

  /// `apns.Unregistered`, or `apns.418` when no reason was given; `nil` for 200.
  package var reasonCode: ReasonCode? {
    guard verdict != .accepted else { return nil }
    return .apns(reason ?? String(status))
  }

  private static func verdict(status: Int, reason: String?) -> APNsVerdict {
    if let reason, let known = APNsReason.verdicts[APNsReason(rawValue: reason)] { return known }
    return status == 429 || (500...599).contains(status) ? .retryLater : .unknown
  }

  private static func read(_ body: [UInt8]) -> (reason: String?, timestamp: WallTime?) {
    guard body.count <= APNsLimits.replyBodyBytes else { return (nil, nil) }
    let root: JSONSlice
    do {
      root = try JSONSlice(parsing: body)
    } catch {
      // A proxy's HTML or nothing at all: the status alone decides.
      return (nil, nil)
    }
    let milliseconds = root["timestamp"].flatMap { number in
      number.int.map(Int64.init) ?? number.double.flatMap { Int64(exactly: $0.rounded()) }
    }
    let reason = root["reason"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    return (reason, milliseconds.map(WallTime.init(milliseconds:)))
  }
}
