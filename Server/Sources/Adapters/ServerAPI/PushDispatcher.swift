package import Storage

/// The way from an accepted message to the providers. `PabalServer` makes one of its transport; a test writes its own.
package struct PushDispatcher: Sendable {
  /// Sends deliveries that the store has marked, and records their outcomes in the store.
  ///
  /// Returns when every one of them has a recorded outcome, or after `wait` (zero: at once); sending goes on either
  /// way, also when the caller's task is cancelled.
  package var dispatch: @Sendable (_ deliveries: [OutgoingDelivery], _ wait: Duration) async -> Void

  package init(dispatch: @escaping @Sendable (_ deliveries: [OutgoingDelivery], _ wait: Duration) async -> Void) {
    self.dispatch = dispatch
  }
}
