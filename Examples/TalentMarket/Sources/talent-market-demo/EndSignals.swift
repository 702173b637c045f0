import Foundation

/// Ctrl-C and requests to end, told as an ordinary call.
///
/// By a pipe: a handler may do no more than write a byte. (libdispatch's signal sources crash here.)
enum EndSignals {
  private static let pipe = Pipe()
  private static let writingEnd = pipe.fileHandleForWriting.fileDescriptor

  /// - Parameter body: called on some thread for each of the signals, from now on.
  static func watch(_ body: @escaping @Sendable () -> Void) {
    pipe.fileHandleForReading.readabilityHandler = { handle in
      if !handle.availableData.isEmpty { body() }
    }
    guard writingEnd >= 0 else { return }
    for number in [SIGINT, SIGTERM] {
      signal(number) { _ in
        var byte: UInt8 = 1
        _ = write(EndSignals.writingEnd, &byte, 1)
      }
    }
  }
}
