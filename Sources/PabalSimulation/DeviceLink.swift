#if !os(iOS)
/// The phone's line to Apple, as far as an app cannot see it: how it gets its token and its pushes.
public struct DeviceLink: Sendable {
  /// Asks for a token for an app (topic = bundle id). The same phone gets the same token until it uninstalls.
  /// Throws `PhoneError` `.linkFailed`.
  public var register: @Sendable (_ topic: String) async throws -> [UInt8]
  /// Opens the stream of pushes; ends when another stream takes over or the task is cancelled. A push may come twice:
  /// the phone drops inbox ids that it knows.
  public var pushes: @Sendable () -> AsyncStream<DevicePush>
  /// Leaves the network in an orderly way: from now on pushes are stored.
  public var leave: @Sendable () async throws -> Void
  /// The app is gone: its token is dead.
  public var uninstall: @Sendable () async throws -> Void

  public init(
    register: @escaping @Sendable (_ topic: String) async throws -> [UInt8],
    pushes: @escaping @Sendable () -> AsyncStream<DevicePush>,
    leave: @escaping @Sendable () async throws -> Void,
    uninstall: @escaping @Sendable () async throws -> Void
  ) {
    self.register = register
    self.pushes = pushes
    self.leave = leave
    self.uninstall = uninstall
  }
}

/// One push as APNs hands it to the phone.
public struct DevicePush: Sendable, Equatable {
  /// The stand-in's id for de-duplication.
  public var inboxID: String
  public var apnsID: String
  public var topic: String
  public var pushType: String
  public var collapseID: String?
  public var payload: [UInt8]

  public init(
    inboxID: String, apnsID: String, topic: String, pushType: String = "alert", collapseID: String? = nil,
    payload: [UInt8]
  ) {
    self.inboxID = inboxID
    self.apnsID = apnsID
    self.topic = topic
    self.pushType = pushType
    self.collapseID = collapseID
    self.payload = payload
  }
}
#endif
