/// Which of Apple's two services a token belongs to.
public enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
  case sandbox, production
}

/// `test` goes to the stand-ins only, `live` to the real services; the API key decides.
public enum PushMode: String, Sendable, Hashable, CaseIterable {
  case test, live
}

/// The service that a token was issued by; decides the road, whatever the platform is.
public enum PushProvider: String, Sendable, Hashable, CaseIterable {
  case apns, fcm, webpush
}

/// What the device is. Open: a platform that we do not know keeps its name.
public struct Platform: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public static let ios = Platform(rawValue: "ios")
  public static let android = Platform(rawValue: "android")
  public static let ipados = Platform(rawValue: "ipados")
  public static let macos = Platform(rawValue: "macos")
  public static let watchos = Platform(rawValue: "watchos")
  public static let tvos = Platform(rawValue: "tvos")
  public static let visionos = Platform(rawValue: "visionos")

  public static let known: [Platform] = [.ios, .android, .ipados, .macos, .watchos, .tvos, .visionos]

  /// Case-insensitive; `nil` for a platform that is not in `known`.
  public init?(checking text: String) {
    let candidate = Platform(rawValue: text.lowercased())
    guard Self.known.contains(candidate) else { return nil }
    self = candidate
  }
}

/// What the user last allowed, as the app reported it.
public enum NotificationPermission: String, Sendable, Hashable, CaseIterable {
  case notDetermined, denied, granted, provisional, ephemeral
}

/// Where a delivery stands; exactly one at a time.
public enum DeliveryState: String, Sendable, Hashable, CaseIterable {
  case queued, held, sending, retrying
  /// The provider took it. Says nothing about the phone.
  case accepted
  /// The provider, or our own check, said no for good.
  case rejected
  /// Its time ran out before a provider took it.
  case expired
  /// It was written and no reply came; repeating it could show it twice.
  case unknown
  /// We chose not to send it.
  case suppressed
  case canceled

  public var isTerminal: Bool {
    switch self {
    case .queued, .held, .sending, .retrying: false
    case .accepted, .rejected, .expired, .unknown, .suppressed, .canceled: true
    }
  }
}

/// Something an app tells about a notification.
public enum EventKind: String, Sendable, Hashable, CaseIterable {
  case received, presented, opened, action, dismissed, converted, settings, custom
}

/// The message and delivery that a payload carries as `pabal: {m, d}`.
public struct PushIdentity: Hashable, Sendable {
  public let message: MessageID
  public let delivery: DeliveryID

  public init(message: MessageID, delivery: DeliveryID) {
    self.message = message
    self.delivery = delivery
  }
}
