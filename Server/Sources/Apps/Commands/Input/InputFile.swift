import ArgumentParsing

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Files that a user names on the command line: opened with a reason when they cannot be.
final class InputFile: Sendable {
  let path: String
  private let file: Int32
  let isRegular: Bool

  /// - Parameter what: how messages call it, e.g. `The key`.
  /// - Throws: `usage` naming path, cause and remedy.
  init(_ path: String, what: String) throws(UsageError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
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
    isRegular = status.st_mode & S_IFMT == S_IFREG
  }

  deinit { close(file) }

  /// At most `count` bytes from where the last read ended; empty at the end.
  func read(_ count: Int) throws(UsageError) -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: count)
    while true {
      let found = systemRead(file, &chunk, count)
      if found < 0, errno == EINTR { continue }
      guard found >= 0 else { throw UsageError("\(path) cannot be read: \(Self.reason(errno)).") }
      return found == count ? chunk : [UInt8](chunk.prefix(found))
    }
  }

  func rewind() {
    lseek(file, 0, SEEK_SET)
  }

  /// The whole file.
  ///
  /// - Parameter limit: a file longer than this is not what it is taken for.
  static func contents(of path: String, what: String, limit: Int) throws(UsageError) -> [UInt8] {
    let input = path == "-" ? try InputFile("/dev/stdin", what: what) : try InputFile(path, what: what)
    var bytes: [UInt8] = []
    while true {
      let chunk = try input.read(65_536)
      guard !chunk.isEmpty else { return bytes }
      bytes += chunk
      guard bytes.count <= limit else {
        throw UsageError("\(what) \(path) is longer than \(limit) bytes; is it the right file?")
      }
    }
  }

  private static func reason(_ number: Int32) -> String {
    switch number {
    case ENOENT: "there is no such file"
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
