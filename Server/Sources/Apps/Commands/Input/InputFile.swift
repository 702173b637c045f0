package import ArgumentParsing

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Files that a user names on the command line: opened with a reason when they cannot be.
package final class InputFile: Sendable {
  /// How messages call it.
  package let path: String
  private let file: Int32
  /// Can be read twice.
  package let isRegular: Bool

  /// - Parameter what: how messages call it, e.g. `The key`.
  /// - Throws: `usage` naming path, cause and remedy.
  package init(_ path: String, what: String) throws(UsageError) {
    // Opening /dev/stdin anew fails for a socket and starts a redirected file from its beginning.
    let isStandardInput = path == "-"
    let path = isStandardInput ? "standard input" : path
    let file = isStandardInput ? fcntl(0, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw UsageError("\(what) \(path) cannot be read: \(Self.reason(errno)).")
    }
    var status = stat()
    guard fstat(file, &status) == 0 else {
      close(file)
      throw UsageError("\(what) \(path) cannot be read: \(Self.reason(errno)).")
    }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      close(file)
      throw UsageError("\(what) \(path) is a directory. Name the file inside it.")
    }
    self.path = path
    self.file = file
    isRegular = !isStandardInput && status.st_mode & S_IFMT == S_IFREG
  }

  deinit { close(file) }

  /// Fills `buffer` from `start` on, from where the last read ended; 0 at the end of the file.
  package func read(into buffer: inout [UInt8], from start: Int) throws(UsageError) -> Int {
    let room = buffer.count - start
    while true {
      let found = buffer.withUnsafeMutableBytes { bytes in
        systemRead(file, bytes.baseAddress.map { $0 + start }, room)
      }
      if found < 0, errno == EINTR { continue }
      guard found >= 0 else { throw UsageError("\(path) cannot be read: \(Self.reason(errno)).") }
      return found
    }
  }

  /// Waits until there is something to read; `false` when `isStopped` says so while there is nothing.
  package func waitForBytes(unless isStopped: () -> Bool) -> Bool {
    while true {
      var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      // An error shows itself in the read that follows.
      if poll(&entry, 1, Self.lookMilliseconds) != 0 { return true }
      if isStopped() { return false }
    }
  }

  /// Whether a read would not wait.
  package var hasBytes: Bool {
    var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) != 0
  }

  /// How long a Ctrl-C may wait behind a stream that has nothing to say.
  private static let lookMilliseconds: Int32 = 100

  package func rewind() {
    lseek(file, 0, SEEK_SET)
  }

  /// The whole file.
  ///
  /// - Parameter limit: a file longer than this is not what it is taken for.
  static func contents(of path: String, what: String, limit: Int) throws(UsageError) -> [UInt8] {
    let input = try InputFile(path, what: what)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = try input.read(into: &chunk, from: 0)
      guard count > 0 else { return bytes }
      bytes += chunk.prefix(count)
      guard bytes.count <= limit else {
        throw UsageError("\(what) \(input.path) is longer than \(limit) bytes: name the right file.")
      }
    }
  }

  private static func reason(_ number: Int32) -> String {
    switch number {
    case ENOENT: "there is no such file; check the path"
    case EACCES: "permission denied; check its mode and owner"
    case EISDIR: "it is a directory"
    case EMFILE, ENFILE: "too many files are open"
    default: String(cString: strerror(number)).lowercased()
    }
  }
}

private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, bytes, count)
}
