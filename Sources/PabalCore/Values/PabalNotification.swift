public import PabalModel
public import PabalPrimitives

/// A notification that reached this device, as a value.
public struct PabalNotification: Sendable, Hashable {
  /// The system's identifier of the request; reused when a later push replaces this one.
  public var requestID: String
  public var title: String
  public var body: String
  public var category: String
  public var threadID: String
  /// When the system delivered it.
  public var date: WallTime
  /// `nil` for a push that Pabal's server did not send.
  public var identity: PushIdentity?
  public var link: PabalLink

  public init(
    requestID: String, title: String = "", body: String = "", category: String = "", threadID: String = "",
    date: WallTime, identity: PushIdentity?, link: PabalLink
  ) {
    self.requestID = requestID
    self.title = title
    self.body = body
    self.category = category
    self.threadID = threadID
    self.date = date
    self.identity = identity
    self.link = link
  }
}

/// Where a notification leads: the app's own root keys of the payload (`type`, `chatRoomId`, `link`, …).
public struct PabalLink: Sendable, Hashable {
  private var members: [String: JSONText]

  private struct JSONText: Sendable, Hashable {
    var bytes: [UInt8]
  }

  public init(_ members: KeyValuePairs<String, String> = [:]) {
    self.members = [:]
    for (name, value) in members { self.members[name] = JSONText(bytes: JSONValue.string(value).encoded) }
  }

  /// The root members of a payload without `aps` and `pabal`.
  public init(payload: JSONValue) {
    members = [:]
    guard case .object(let found) = payload else { return }
    for member in found where member.name != "aps" && member.name != "pabal" {
      members[member.name] = JSONText(bytes: member.value.encoded)
    }
  }

  /// The member as text: a string as it is, a number or a truth value as JSON spells it; `nil` otherwise.
  public subscript(_ name: String) -> String? {
    guard let value = value(name) else { return nil }
    switch value.kind {
    case .string: return value.string
    case .number, .bool: return String(decoding: value.bytes, as: UTF8.self)
    case .object, .array, .null: return nil
    }
  }

  /// The member as checked JSON.
  public func value(_ name: String) -> JSONSlice? {
    guard let text = members[name] else { return nil }
    do throws(JSONError) {
      return try JSONSlice(parsing: text.bytes)
    } catch {
      return nil
    }
  }

  public var names: [String] { members.keys.sorted() }
  /// The guide's switch between screens.
  public var type: String? { self["type"] }
  /// The address of a screen, when the push carries one.
  public var url: String? { self["link"] }
}

/// What the user did with a notification.
public struct PabalInteraction: Sendable, Hashable, Identifiable {
  public enum Kind: Sendable, Hashable {
    case open
    case dismiss
    case action(String)
    case reply(String, text: String)
  }

  public let kind: Kind
  public let notification: PabalNotification

  public init(_ kind: Kind, of notification: PabalNotification) {
    self.kind = kind
    self.notification = notification
  }

  /// The same for every report of one tap, whoever makes it and however often; different for another action or
  /// another delivery. Pass it to a backend as the idempotency key.
  public var id: String {
    EventID.make(
      delivery: notification.identity?.delivery.rawValue ?? "request:" + notification.requestID,
      presentedAt: notification.date, action: actionName)
  }

  /// `default`, `dismiss`, or the button's identifier.
  public var actionName: String {
    switch kind {
    case .open: "default"
    case .dismiss: "dismiss"
    case .action(let identifier), .reply(let identifier, _): identifier
    }
  }
}
