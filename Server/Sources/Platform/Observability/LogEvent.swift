package import PabalPrimitives

/// How loud an event is, from what only a maintainer wants to know to what somebody must look at.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
  case debug, info, warning, error

  package static func < (left: LogLevel, right: LogLevel) -> Bool {
    left.rawValue < right.rawValue
  }

  /// As it stands in a line.
  package var name: String {
    switch self {
    case .debug: "debug"
    case .info: "info"
    case .warning: "warning"
    case .error: "error"
    }
  }
}

/// One line of the log: a constant message, and everything that varies in fields.
///
/// `StaticString` keeps values out of the message, so that a token or a text cannot slip into it.
package struct LogEvent: Sendable {
  package let time: WallTime
  package let level: LogLevel
  /// Stable dotted name, for example `delivery.rejected`.
  package let name: String
  package let message: String
  package let fields: [JSONMember]

  /// One JSON object: `ts`, `level`, `event`, `msg`, then the fields in the order given.
  package var json: [UInt8] {
    JSONValue.object(
      [
        JSONMember("ts", .string(time.rfc3339)), JSONMember("level", .string(level.name)),
        JSONMember("event", .string(name)), JSONMember("msg", .string(message)),
      ] + fields
    ).encoded
  }

  /// What is left of an event that is too long for a line: `cut` instead of its fields.
  package var withoutFields: LogEvent {
    LogEvent(time: time, level: level, name: name, message: message, fields: [JSONMember("cut", true)])
  }

  /// For people: `10:00:07.412 info  delivery.rejected  message  key=value`.
  package var text: String {
    let clock = time.rfc3339.dropFirst(11).dropLast()
    let pairs = fields.map { "\($0.name)=\($0.value.encodedText)" }
    return (["\(clock) \(level.name)", name, message] + pairs).joined(separator: "  ")
  }
}
