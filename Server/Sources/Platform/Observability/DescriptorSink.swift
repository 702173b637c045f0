package import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Writes events to a file descriptor, one line each, and drops what the reader of the descriptor does not take.
///
/// Nothing may ever wait for a log, or end because of one: when a write would block or fails, or the reader of a pipe
/// is gone, the line is counted in `droppedCount` instead.
package final class DescriptorSink: Sendable {
  /// One JSON object a line, or a line for people.
  package enum Format: Sendable {
    case json, text
  }

  /// The longest line, newline included. A pipe that is said to be writable takes so much at once (Linux: a page;
  /// pipe(7), PIPE_BUF); a longer write could wait for the reader, or leave half a line.
  package static let lineBytes = 4096

  private let descriptor: Int32
  private let format: Format
  private let dropped = Locked<UInt64>(0)
  // Lines of several threads must not mix inside one `write`.
  private let writing = OneAtATime()

  /// The descriptor stays the caller's.
  package init(descriptor: Int32, format: Format) {
    self.descriptor = descriptor
    self.format = format
  }

  /// Lines that nobody will read.
  package var droppedCount: UInt64 { dropped.withLock { $0 } }

  /// A log whose events go here.
  package func log(minimumLevel: LogLevel, clock: Clock = .system) -> Log {
    Log(minimumLevel: minimumLevel, clock: clock) { self.write($0) }
  }

  private func write(_ event: LogEvent) {
    var line = line(event)
    if line.count > Self.lineBytes { line = self.line(event.withoutFields) }
    let isWritten = writing.run {
      guard isWritable else { return false }
      return line.withUnsafeBytes { bytes in
        #if canImport(Darwin)
        Darwin.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
        #else
        Glibc.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
        #endif
      }
    }
    if !isWritten { dropped.withLock { $0 += 1 } }
  }

  private func line(_ event: LogEvent) -> [UInt8] {
    (format == .json ? event.json : Array(event.text.utf8)) + [0x0A]
  }

  /// Room for a whole line, and a reader: without one a write would raise SIGPIPE.
  private var isWritable: Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&request, 1, 0) == 1 && request.revents & Int16(POLLOUT | POLLERR | POLLHUP) == Int16(POLLOUT)
  }
}
