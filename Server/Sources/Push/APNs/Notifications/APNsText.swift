internal import PabalPrimitives

/// A text of an alert: as it stands, or a key that the app has texts for in the user's language.
package enum APNsText: Hashable, Sendable {
  case literal(String)
  /// `key` is looked up in the app's `Localizable.strings`; each `%@` takes the next argument.
  case localized(key: String, arguments: [String] = [])

  package init?(_ text: String?) {
    guard let text else { return nil }
    self = .literal(text)
  }

  /// The members of an `alert` object for the text called `name`: never both forms of one text.
  ///
  /// For `body` the keys are `loc-key` and `loc-args`, for the others they start with the name.
  func members(_ name: String) -> [JSONMember] {
    let prefix = name == "body" ? "" : name + "-"
    return switch self {
    case .literal(let text): [JSONMember(name, .string(text))]
    case .localized(let key, let arguments):
      [JSONMember(prefix + "loc-key", .string(key))]
        + (arguments.isEmpty ? [] : [JSONMember(prefix + "loc-args", .array(arguments.map(JSONValue.string)))])
    }
  }

  /// As the alerts of Live Activities have it: a text, or an object with its key.
  var liveActivityValue: JSONValue {
    switch self {
    case .literal(let text): .string(text)
    case .localized(let key, let arguments):
      .object(
        [JSONMember("loc-key", .string(key))]
          + (arguments.isEmpty ? [] : [JSONMember("loc-args", .array(arguments.map(JSONValue.string)))]))
    }
  }
}

extension APNsText: ExpressibleByStringLiteral {
  package init(stringLiteral text: String) {
    self = .literal(text)
  }
}
