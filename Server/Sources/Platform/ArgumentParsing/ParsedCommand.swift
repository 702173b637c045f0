/// A command line that fits its definition.
package struct ParsedCommand: Sendable {
  /// The verbs, e.g. `["jwt", "make"]`.
  package let path: [String]
  package let definition: CommandDefinition
  package let operands: [String]
  let values: [String: [String]]

  /// Whether the option was given, with or without a value.
  package func isSet(_ option: OptionDefinition) -> Bool { values[option.name] != nil }

  /// The last value given; nil when there is none.
  package func value(_ option: OptionDefinition) -> String? { values[option.name]?.last }

  /// All values given, in order.
  package func list(_ option: OptionDefinition) -> [String] { values[option.name] ?? [] }

  /// - Throws: `usage` when the option is missing.
  package func required(_ option: OptionDefinition) throws(UsageError) -> String {
    guard let value = value(option) else {
      throw UsageError("--\(option.name) is missing. It means: \(option.help)")
    }
    return value
  }

  /// - Throws: `usage` when the value is not a whole number of `range`.
  package func integer(_ option: OptionDefinition, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = value(option) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "--\(option.name) must be a whole number from \(range.lowerBound) to \(range.upperBound), found '\(text)'.")
    }
    return number
  }

  /// - Throws: `usage` unless the value is a duration such as `500ms`, `30s`, `5m` or `1h`.
  package func duration(_ option: OptionDefinition) throws(UsageError) -> Duration? {
    guard let text = value(option) else { return nil }
    guard let duration = DurationText.parse(text) else {
      throw UsageError("--\(option.name) must be a duration such as 500ms, 30s, 5m or 1h, found '\(text)'.")
    }
    return duration
  }

  /// - Throws: `usage` naming the allowed values.
  package func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ option: OptionDefinition, of type: Value.Type
  ) throws(UsageError) -> Value? {
    guard let text = value(option) else { return nil }
    guard let value = Value(rawValue: text) else {
      let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--\(option.name) must be one of \(allowed); found '\(text)'.")
    }
    return value
  }
}

/// Durations as people type them: a whole number and a unit.
package enum DurationText {
  /// `nil` unless digits and one of `ms`, `s`, `m`, `h`; at most a thousand days.
  package static func parse(_ text: String) -> Duration? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, digits.count <= 12, let number = Int64(digits) else { return nil }
    let duration: Duration
    switch text.dropFirst(digits.count) {
    case "ms": duration = .milliseconds(number)
    case "s": duration = .seconds(number)
    case "m": duration = .seconds(number * 60)
    case "h": duration = .seconds(number * 3600)
    default: return nil
    }
    return duration <= .seconds(1000 * 86_400) ? duration : nil
  }
}
