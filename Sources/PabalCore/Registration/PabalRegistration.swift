public import Foundation

/// Where this device stands with the server.
public enum PabalRegistration: Sendable, Equatable {
  /// The system has not given the app a token yet.
  case waitingForAPNs
  /// A change is on its way to the server, or waits for its turn.
  case pending
  /// The server has acknowledged the current state.
  case registered
  /// The last call failed; `retryAt` is when it is repeated, `nil` when only a change or the next launch will.
  case failed(PabalError, retryAt: Date?)
}
