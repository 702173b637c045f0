internal import Foundation
internal import PabalPrimitives

/// A kind of notification that the user can switch off.
public struct PabalPreference: Sendable, Hashable, ExpressibleByStringLiteral, RawRepresentable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public init(stringLiteral name: String) {
    rawValue = name
  }

  public static let marketing: PabalPreference = "marketing"
  public static let message: PabalPreference = "message"
  public static let talentRequest: PabalPreference = "talentRequest"
}

/// The switches of the signed-in user. Each call asks the server: there is one truth.
@available(iOSApplicationExtension, unavailable)
@MainActor public struct PabalPreferences {
  let core: ClientCore

  /// All switches. Throws `PabalError`.
  public func all() async throws -> [PabalPreference: Bool] {
    try Self.read(try await core.call { requests, user in requests.preferences(of: user) })
  }

  /// Changes one switch and leaves the others; gives all of them back. Throws `PabalError`; nothing is changed then.
  @discardableResult
  public func set(_ preference: PabalPreference, _ isOn: Bool) async throws -> [PabalPreference: Bool] {
    try Self.read(
      try await core.call { requests, user in requests.put(preferences: [preference.rawValue: isOn], of: user) })
  }

  private static func read(_ answer: HTTPAnswer) throws -> [PabalPreference: Bool] {
    let root = try JSONSlice(parsing: answer.body)
    guard let switches = root["preferences"], switches.kind == .object else { throw PabalError(answer: answer) }
    var found: [PabalPreference: Bool] = [:]
    for (name, value) in switches.members { found[PabalPreference(rawValue: name)] = value.bool }
    return found
  }
}
