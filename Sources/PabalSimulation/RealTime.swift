#if !os(iOS)
internal import Foundation
internal import PabalPrimitives

/// Real time, for what lies outside of the phone and its clock: a broken connection, a deadline on other programs.
public enum RealTime {
  /// Returns when `duration` has passed. Throws `CancellationError` when the task is cancelled first.
  public static func pass(_ duration: Duration) async throws {
    let isOver = Watched(false)
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + .nanoseconds(Int(clamping: duration.nanosecondsClamped)))
    timer.setEventHandler { isOver.withLock { $0 = true } }
    timer.resume()
    defer { timer.cancel() }
    try await isOver.wait { $0 }
  }
}
#endif
