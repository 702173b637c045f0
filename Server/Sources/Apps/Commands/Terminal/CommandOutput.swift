import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// One of the two streams that a command writes to. Data goes to standard output, talk to standard error.
///
/// Writing to a pipe that nobody reads any more ends the process by SIGPIPE, as `| head` expects.
package final class CommandOutput: Sendable {
  private let file: Int32
  private let buffer = Locked<[UInt8]>([])

  package init(file: Int32) {
    self.file = file
  }

  package static let standard = CommandOutput(file: 1)
  package static let errors = CommandOutput(file: 2)

  /// Written out when 64 KiB have gathered, and by `flush`.
  package func append(_ bytes: [UInt8]) {
    buffer.withLock { buffer in
      buffer += bytes
      if buffer.count >= 65_536 { write(&buffer) }
    }
  }

  package func flush() {
    buffer.withLock { write(&$0) }
  }

  /// One line, at once.
  package func line(_ text: String) {
    append(Array(text.utf8) + [UInt8(ascii: "\n")])
    flush()
  }

  package func text(_ text: String) {
    append(Array(text.utf8))
    flush()
  }

  private func write(_ bytes: inout [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // A full disk or a closed terminal: there is nobody left to tell.
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
    bytes.removeAll(keepingCapacity: true)
  }
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}
