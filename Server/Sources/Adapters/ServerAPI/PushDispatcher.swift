package import PabalModel
package import Storage

/// About whom something has changed.
package enum ChangedSubject: Hashable, Sendable {
  case user(UserID)
  case device(DeviceNumber)
}

/// The way from an accepted message to the providers. `PabalServer` makes one of its transport; a test writes its own.
package struct PushDispatcher: Sendable {
  /// Sends deliveries that the store has marked, and records their outcomes in the store.
  ///
  /// Returns when every one of them has a recorded outcome, or after `wait` (zero: at once); sending goes on either
  /// way, also when the caller's task is cancelled. What changed after `since`, a number that `position` gave before
  /// the decision, counts as if it had changed under way.
  package var dispatch: @Sendable (_ deliveries: [OutgoingDelivery], _ wait: Duration, _ since: Int) async -> Void
  /// Counts the changes told so far.
  package var position: @Sendable () -> Int
  /// Told after the commit and before the caller hears of it: devices or wishes have changed. No attempt at what was
  /// decided before begins any more; what has not left goes back to the store, which looks at it again.
  ///
  /// Returns how many have left already and wait for the provider's word.
  package var reconsider: @Sendable (_ subjects: Set<ChangedSubject>) async -> Int

  package init(
    position: @escaping @Sendable () -> Int = { 0 },
    reconsider: @escaping @Sendable (_ subjects: Set<ChangedSubject>) async -> Int = { _ in 0 },
    dispatch: @escaping @Sendable (_ deliveries: [OutgoingDelivery], _ wait: Duration, _ since: Int) async -> Void
  ) {
    self.dispatch = dispatch
    self.position = position
    self.reconsider = reconsider
  }
}
