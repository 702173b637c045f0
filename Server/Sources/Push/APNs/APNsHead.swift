package import PabalModel

/// The headers that many pushes of one kind share. What stands in it has been checked.
package struct APNsHead: Hashable, Sendable {
  /// With the suffix of `pushType`.
  package let topic: Topic
  package let pushType: APNsPushType
  package let priority: APNsPriority
  package let expiration: APNsExpiration?
  package let collapseID: String?

  /// - Parameters:
  ///   - topic: bundle id, with or without the suffix of `pushType`.
  ///   - priority: `nil` for the default of `pushType`.
  /// - Throws: `header_invalid`.
  package init(
    topic: Topic, pushType: APNsPushType, priority: APNsPriority? = nil, expiration: APNsExpiration? = nil,
    collapseID: String? = nil
  ) throws(APNsRequestError) {
    let priority = priority ?? pushType.defaultPriority
    try Self.check(topic)
    guard APNsPriority.known.contains(priority) else {
      throw .header("The priority must be 10, 5 or 1, found \(priority.rawValue).")
    }
    guard pushType != .background || priority != .immediate else {
      throw .header("A background push must not have priority 10. Leave the priority out, or give 5.")
    }
    if let collapseID { try Self.check(collapseID: collapseID) }
    self.topic = pushType.topic(for: topic)
    self.pushType = pushType
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
  }

  /// Names in lower case, in a fixed order; `authorization` and `apns-id` are added by whoever sends.
  package var headers: [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = [
      ("apns-topic", topic.rawValue),
      ("apns-push-type", pushType.rawValue),
      ("apns-priority", String(priority.rawValue)),
    ]
    if let expiration { headers.append(("apns-expiration", String(expiration.unixSeconds))) }
    if let collapseID { headers.append(("apns-collapse-id", collapseID)) }
    return headers
  }

  /// Names whose values change from message to message. Apple advises to keep them out of the small table that header
  /// compression has there ("Sending notification requests to APNs").
  package static let varyingHeaders: Set<String> = ["apns-expiration", "apns-collapse-id"]

  private static func check(_ topic: Topic) throws(APNsRequestError) {
    let isPlain = topic.rawValue.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isPlain, (1...APNsLimits.topicBytes).contains(topic.rawValue.utf8.count) else {
      throw .header("The topic must be the app's bundle id, such as com.example.app; it is mandatory.")
    }
  }

  private static func check(collapseID: String) throws(APNsRequestError) {
    let bytes = Array(collapseID.utf8)
    guard (1...APNsLimits.collapseIDBytes).contains(bytes.count) else {
      throw .header("A collapse id has 1 to \(APNsLimits.collapseIDBytes) bytes, found \(bytes.count).")
    }
    // RFC 9113 section 8.2.1: no control characters, no white space at either end.
    let hasControls = bytes.contains { $0 < 0x20 || $0 == 0x7F }
    guard !hasControls, bytes.first != 0x20, bytes.last != 0x20 else {
      throw .header("A collapse id must have no control characters and no blanks at its ends.")
    }
  }
}
