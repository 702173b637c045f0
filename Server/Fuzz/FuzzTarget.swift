/// The parsers that read bytes of strangers, each with what must hold whatever the bytes are.
///
/// `make test` replays the corpora of `Tests/Fixtures/corpus`, `scripts/fuzz` looks for new inputs.
package enum FuzzTarget: String, CaseIterable, Sendable {
  case payload = "Payload"
  case truncation = "Truncation"
  case deviceToken = "DeviceToken"
  case signingKey = "SigningKey"
  case identity = "Identity"
  case providerToken = "ProviderToken"
  case http2 = "HTTP2"
  case control = "Control"

  /// - Throws: `FuzzFinding` when something does not hold.
  package func run(_ bytes: [UInt8]) async throws {
    if try runAtOnce(bytes) { return }
    try await ControlFuzz.run(bytes)
  }

  /// As `run` for a target that never waits; false, and nothing done, for the one that does.
  package func runAtOnce(_ bytes: [UInt8]) throws -> Bool {
    switch self {
    case .payload: try PayloadFuzz.run(bytes)
    case .truncation: try TruncationFuzz.run(bytes)
    case .deviceToken: try DeviceTokenFuzz.run(bytes)
    case .signingKey: try SigningKeyFuzz.run(bytes)
    case .identity: try IdentityFuzz.run(bytes)
    case .providerToken: try ProviderTokenFuzz.run(bytes)
    case .http2: try HTTP2Fuzz.run(bytes)
    case .control: return false
    }
    return true
  }
}

/// A rule that an input broke.
package struct FuzzFinding: Error, CustomStringConvertible {
  package let description: String
}

func demand(_ holds: Bool, _ rule: String) throws(FuzzFinding) {
  guard holds else { throw FuzzFinding(description: rule) }
}
