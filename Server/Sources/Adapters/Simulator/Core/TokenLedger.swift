/// Counts how often a provider changes its token.
///
/// Apple: "Refresh your token no more than once every 20 minutes"; a token counts from its first use. The first token
/// is no change; `changes` more within the window are free; the next new one is refused and not remembered, so that
/// going back to an earlier token works.
struct TokenLedger: Sendable {
  private struct Seen {
    let digest: String
    let at: Int64
  }

  private var seen: [String: [Seen]] = [:]

  /// Whether `digest` may be used in `scope` at `now` (milliseconds).
  mutating func admits(_ digest: String, scope: String, now: Int64, rules: StandInRules) -> Bool {
    var tokens = seen[scope] ?? []
    if tokens.contains(where: { $0.digest == digest }) { return true }
    let recent = tokens.count { $0.at > now - rules.providerTokenWindowMs }
    guard recent <= rules.providerTokenChanges else { return false }
    // A token older than it may live can never come back as a good one.
    let oldest = now - max(rules.providerTokenAgeSeconds * 2000, rules.providerTokenWindowMs)
    tokens.removeAll { $0.at < oldest }
    tokens.append(Seen(digest: digest, at: now))
    seen[scope] = tokens
    return true
  }

  mutating func forget(scope: String) {
    seen[scope] = nil
  }

  mutating func forgetAll() {
    seen = [:]
  }
}
