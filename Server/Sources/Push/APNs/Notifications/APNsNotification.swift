package import PabalModel

/// One push of one kind: headers and body follow from its type, so that what Apple does not allow cannot be said.
///
/// A payload that its sender brings whole is no notification of these: `APNsPayload.init(checking:for:)` takes it.
package protocol APNsNotification: Sendable {
  static var pushType: APNsPushType { get }
  var priority: APNsPriority { get }
  /// `nil`: stored as long as APNs likes.
  var expiration: APNsExpiration? { get }
  /// Pushes with the same one replace each other on the device; 1 to 64 bytes.
  var collapseID: String? { get }

  /// - Throws: `payload_invalid`, `payload_too_large`.
  func payload() throws(APNsRequestError) -> APNsPayload
}

extension APNsNotification {
  /// - Parameter bundle: the app's bundle id; the suffix of the type is added unless it is there.
  package func head(for bundle: Topic) throws(APNsRequestError) -> APNsHead {
    try APNsHead(
      topic: bundle, pushType: Self.pushType, priority: priority, expiration: expiration, collapseID: collapseID)
  }

  /// The whole push for one device.
  package func request(to token: DeviceToken, of bundle: Topic) throws(APNsRequestError) -> APNsRequest {
    APNsRequest(token: token, head: try head(for: bundle), payload: try payload())
  }
}
