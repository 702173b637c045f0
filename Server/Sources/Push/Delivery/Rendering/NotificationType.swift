/// A named template with its policy: the app's words and habits as data, never as Swift.
package struct NotificationType: Sendable {
  package enum ParameterKind: String, Sendable {
    /// Text; a whole number is taken as its digits, since many backends send ids so.
    case string
    case integer
  }

  package struct Parameter: Sendable {
    package let name: String
    package let kind: ParameterKind
    package let isRequired: Bool
    package let minimum: Int?
    package let maximum: Int?
  }

  struct Text: Sendable {
    let locale: String
    let title: Template
    let body: Template
  }

  /// Which members a payload has beside its own.
  enum Extras: String, Sendable {
    /// The guide's members only.
    case guide
    /// Thread, interruption level and link as well.
    case full
  }

  struct Presentation: Sendable {
    let extras: Extras
    let threadID: Template?
    let actionCategory: String?
    let sound: String?
    let badge: Int?
    let interruptionLevel: InterruptionLevel?
    let link: Template?
    let payload: [(name: String, value: Template)]
  }

  package let name: String
  package let version: Int
  /// What a user can switch off; nil cannot be.
  package let category: String?
  package let frequencyClass: FrequencyClass
  package let parameters: [Parameter]
  package let priority: PushPriority
  package let timeToLive: Duration
  package let dedupeKey: Template?
  package let dedupeWindow: Duration
  /// The parameter that names a user who gets nothing: the sender of a chat message.
  package let excludes: String?
  let texts: [Text]
  let defaultLocale: String
  let presentation: Presentation
}

/// `apns-priority` by name.
package enum PushPriority: String, Sendable, CaseIterable {
  case high, normal

  package var apns: Int {
    switch self {
    case .high: 10
    case .normal: 5
    }
  }
}

/// `aps.interruption-level` ("UNNotificationInterruptionLevel"), as the API spells it.
package enum InterruptionLevel: String, Sendable, CaseIterable {
  case passive, active, timeSensitive, critical

  var apns: String { self == .timeSensitive ? "time-sensitive" : rawValue }
}
