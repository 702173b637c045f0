package import Observability
package import PabalModel
package import PabalPrimitives
package import Storage

/// One app in one mode, and everything that its API needs from outside.
package struct PushAPIConfiguration: Sendable {
  /// Makes a token that the stand-in has never seen a virtual device there, before the registration is answered.
  /// A missing environment means that the app did not tell: a device made then is production's.
  package typealias Adoption =
    @Sendable (_ token: DeviceToken, _ topic: Topic, _ environment: PushEnvironment?) async throws -> Void

  package var appName: String
  package var appMode: AppMode
  package var keys: APIKeys
  /// The topic of a device whose registration names no bundle id, as the guide's do not.
  package var defaultTopic: Topic
  /// Whose word is taken for who the user is.
  package var identity: IdentityPolicy
  package var version: String
  package var clock: Clock
  package var log: Log
  package var metrics: Metrics
  /// What `/readyz` says; asked on each call.
  package var readiness: @Sendable () async -> Readiness
  /// Called before `/metrics` answers, for gauges that must be asked for.
  package var beforeMetrics: @Sendable () async -> Void
  /// nil in live mode, and with strict tokens.
  package var adopt: Adoption?

  package init(
    appName: String, appMode: AppMode, keys: APIKeys, defaultTopic: Topic, identity: IdentityPolicy = .open,
    version: String, clock: Clock = .system, log: Log = .none, metrics: Metrics = Metrics(),
    readiness: @escaping @Sendable () async -> Readiness = { Readiness(checks: []) },
    beforeMetrics: @escaping @Sendable () async -> Void = {}, adopt: Adoption? = nil
  ) {
    self.appName = appName
    self.appMode = appMode
    self.keys = keys
    self.defaultTopic = defaultTopic
    self.identity = identity
    self.version = version
    self.clock = clock
    self.log = log
    self.metrics = metrics
    self.readiness = readiness
    self.beforeMetrics = beforeMetrics
    self.adopt = adopt
  }
}

/// The two keys of an app in test mode. They do not print.
package struct APIKeys: Sendable, Unprintable {
  /// `pb_test_…`: servers; may do everything.
  package let secret: String
  /// `pp_test_…`: ships in apps; registers devices, reports events, reads and sets preferences.
  package let publishable: String

  package init(secret: String, publishable: String) {
    self.secret = secret
    self.publishable = publishable
  }
}

/// Whose word is taken for who the user is. Signed user tokens are not built yet.
package enum IdentityPolicy: Sendable {
  /// The `userId` in a call is believed, also from the guide's clients, which send a token of their own or none.
  case open
}

/// Whether the server can do its work, check by check.
package struct Readiness: Sendable {
  package struct Check: Sendable {
    package let name: String
    package let isOK: Bool
    /// A check that is not required makes the server degraded, not unready.
    package let isRequired: Bool
    /// A word when it is not OK, for example `draining`.
    package let reason: String?

    package init(_ name: String, isOK: Bool, isRequired: Bool = true, reason: String? = nil) {
      self.name = name
      self.isOK = isOK
      self.isRequired = isRequired
      self.reason = reason
    }
  }

  package let checks: [Check]

  package init(checks: [Check]) {
    self.checks = checks
  }

  package var isReady: Bool { checks.allSatisfy { $0.isOK || !$0.isRequired } }
}
