#if !os(iOS)
internal import PabalPrimitives

/// A line to Apple without a network, for tests of app code: what `push` is given comes out of the phone.
public final class LoopbackAPNs: Sendable {
  private struct State {
    var waiting: [DevicePush] = []
    var stream: AsyncStream<DevicePush>.Continuation?
    var count = 0
    var isOnline = true
    var isUninstalled = false
  }

  /// What `register` answers.
  public let token: [UInt8]
  private let topic: String
  private let state = Locked(State())

  public init(topic: String, token: [UInt8] = Array(repeating: 0xAB, count: 32)) {
    self.topic = topic
    self.token = token
  }

  public var link: DeviceLink {
    DeviceLink(
      register: { _ in self.token },
      pushes: { self.open() },
      leave: { self.state.withLock { $0.isOnline = false } },
      uninstall: { self.state.withLock { $0.isUninstalled = true } })
  }

  public var isUninstalled: Bool { state.withLock { $0.isUninstalled } }

  /// Hands a push over, or keeps it until the phone connects.
  ///
  /// - Parameter payload: JSON.
  /// - Parameter inboxID: pushes with the same one are the same push, sent again.
  /// - Returns: the push's apns-id.
  @discardableResult
  public func push(
    _ payload: String, pushType: String = "alert", collapseID: String? = nil, inboxID: String? = nil
  ) -> String {
    state.withLock { state in
      state.count += 1
      let digits = String(state.count)
      let apnsID = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
      let push = DevicePush(
        inboxID: inboxID ?? digits, apnsID: apnsID, topic: topic, pushType: pushType, collapseID: collapseID,
        payload: Array(payload.utf8))
      if let stream = state.stream, state.isOnline { stream.yield(push) } else { state.waiting.append(push) }
      return apnsID
    }
  }

  private func open() -> AsyncStream<DevicePush> {
    let (stream, source) = AsyncStream<DevicePush>.makeStream(
      bufferingPolicy: .bufferingOldest(PhoneLimits.waitingPushes))
    state.withLock { state in
      state.stream?.finish()
      state.stream = source
      state.isOnline = true
      for push in state.waiting { source.yield(push) }
      state.waiting = []
    }
    return stream
  }
}
#endif
