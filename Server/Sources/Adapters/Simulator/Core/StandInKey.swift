/// A signing key that the stand-in knows the public half of, and what Apple lets such a key do.
package struct StandInKey: Sendable {
  /// The kinds of Apple's keys since February 2025.
  package enum Scope: Sendable, Hashable {
    /// Any topic, both environments.
    case team
    /// Any topic, one environment.
    case environment(StandInEnvironment)
    /// The listed bundle ids, one environment; on one connection only together with its related key.
    case topics(Set<String>, StandInEnvironment, relatedKeyID: String?)
  }

  package let keyID: String
  package let teamID: String
  package let scope: Scope
  /// Whether an ES256 signature of 64 bytes fits the message.
  package let verifies: @Sendable (_ message: [UInt8], _ signature: [UInt8]) -> Bool

  package init(
    keyID: String, teamID: String, scope: Scope = .team,
    verifies: @escaping @Sendable (_ message: [UInt8], _ signature: [UInt8]) -> Bool
  ) {
    self.keyID = keyID
    self.teamID = teamID
    self.scope = scope
    self.verifies = verifies
  }

  var environment: StandInEnvironment? {
    switch scope {
    case .team: nil
    case .environment(let environment), .topics(_, let environment, _): environment
    }
  }

  /// Whether a connection that began with this key also takes `other`.
  func goesTogether(with other: StandInKey) -> Bool {
    if keyID == other.keyID { return true }
    switch (scope, other.scope) {
    case (.topics(_, let mine, let related), .topics(_, let theirs, _)):
      return mine == theirs && related == other.keyID
    default: return false
    }
  }

  func allows(bundle: String) -> Bool {
    if case .topics(let bundles, _, _) = scope { return bundles.contains(bundle) }
    return true
  }
}
