package import PabalPrimitives

/// Value of `aps.sound`: a name, or the object of a critical alert.
package enum APNsSound: Hashable, Sendable {
  /// File in the app's bundle or `Library/Sounds`, or `default`.
  case named(String)
  /// `volume` is 0…1; the app needs the critical-alerts entitlement for `isCritical`.
  case critical(name: String, isCritical: Bool, volume: Double?)

  /// Reads a caller's value; absent and `null` mean no sound.
  ///
  /// - Throws: `sound_invalid`.
  package static func read(_ value: JSONSlice?) throws(APNsRequestError) -> APNsSound? {
    guard let value, !value.isNull else { return nil }
    if let name = value.string {
      guard !name.isEmpty else { throw invalid("its name is empty") }
      return .named(name)
    }
    guard value.kind == .object else { throw invalid("it is neither a string nor an object") }
    for member in value.members where !["name", "critical", "volume"].contains(member.name) {
      throw invalid("it has an unknown member; known are name, critical and volume")
    }
    guard let name = value["name"]?.string, !name.isEmpty else { throw invalid("name is missing or not a string") }
    return .critical(name: name, isCritical: try flag(value["critical"]), volume: try volume(value["volume"]))
  }

  var json: JSONValue {
    switch self {
    case .named(let name): .string(name)
    case .critical(let name, let isCritical, let volume):
      .compact([
        "critical": .int(isCritical ? 1 : 0), "name": .string(name), "volume": volume.map(JSONValue.double) ?? .null,
      ])
    }
  }

  private static func flag(_ value: JSONSlice?) throws(APNsRequestError) -> Bool {
    guard let value, !value.isNull else { return false }
    if let bool = value.bool { return bool }
    guard let number = value.int, number == 0 || number == 1 else { throw invalid("critical must be 0 or 1") }
    return number == 1
  }

  private static func volume(_ value: JSONSlice?) throws(APNsRequestError) -> Double? {
    guard let value, !value.isNull else { return nil }
    guard let volume = value.double, (0...1).contains(volume) else { throw invalid("volume must be from 0 to 1") }
    return volume
  }

  private static func invalid(
    _ why: String, file: String = #fileID, line: Int = #line
  ) -> APNsRequestError {
    APNsRequestError(
      code: "sound_invalid",
      message: "The sound is not valid: \(why). Give a file name, \"default\", or {\"name\",\"critical\",\"volume\"}.",
      file: file, line: line)
  }
}

/// Value of `aps.badge`: a whole number from 0, where 0 removes the badge.
package struct APNsBadge: Hashable, Sendable {
  package let number: Int

  /// - Throws: `badge_invalid` for a negative number.
  package init(_ number: Int) throws(APNsRequestError) {
    guard number >= 0 else { throw Self.invalid() }
    self.number = number
  }

  /// Reads a caller's value; absent and `null` leave the badge as it is.
  ///
  /// - Throws: `badge_invalid` for a string, a negative number or a fraction.
  package static func read(_ value: JSONSlice?) throws(APNsRequestError) -> APNsBadge? {
    guard let value, !value.isNull else { return nil }
    guard let number = value.int else { throw invalid() }
    return try APNsBadge(number)
  }

  private static func invalid(file: String = #fileID, line: Int = #line) -> APNsRequestError {
    APNsRequestError(
      code: "badge_invalid",
      message: "The badge must be a whole number from 0 (0 removes it), written without quotes.", file: file, line: line
    )
  }
}
