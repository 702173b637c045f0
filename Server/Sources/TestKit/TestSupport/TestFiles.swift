#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Files of the tests: fixtures of the source tree, folders for one test, and the built command.
package enum TestFiles {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
      self.description = description
    }
  }

  /// Bytes of `Server/Tests/Fixtures/<name>`.
  package static func fixture(_ name: String) throws -> [UInt8] {
    try read(fixturePath(name))
  }

  /// Names of the files in `Server/Tests/Fixtures/<folder>`, sorted; hidden ones are left out.
  package static func fixtures(in folder: String) throws -> [String] {
    let path = "\(self.folder(above: 4))/Tests/Fixtures/\(folder)"
    guard let directory = opendir(path) else { throw Failure(description: "cannot open \(path): errno \(errno)") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// Where `Server/Tests/Fixtures/<name>` lies.
  package static func fixturePath(_ name: String) -> String {
    "\(folder(above: 4))/Tests/Fixtures/\(name)"
  }

  /// Where `scripts/bootstrap test` keeps what belongs to peers.
  package static var peersFolder: String { "\(folder(above: 5))/.build/peers" }

  /// The Python that `scripts/bootstrap test` has furnished with the peers' libraries.
  package static func peerPython() throws -> String {
    let path = "\(peersFolder)/bin/python"
    guard access(path, X_OK) == 0 else {
      throw Failure(description: "the peer \(path) is missing; run scripts/bootstrap test")
    }
    return path
  }

  private static func folder(above levels: Int) -> String {
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(levels).joined(separator: "/")
  }

  package static func read(_ path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure(description: "cannot open \(path): errno \(errno)") }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = systemRead(file, &chunk, chunk.count)
      guard count >= 0 else { throw Failure(description: "cannot read \(path): errno \(errno)") }
      guard count > 0 else { return bytes }
      bytes += chunk.prefix(count)
    }
  }

  package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o600) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(mode))
    guard file >= 0 else { throw Failure(description: "cannot create \(path): errno \(errno)") }
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw Failure(description: "cannot write \(path): errno \(errno)") }
      rest = rest.dropFirst(count)
    }
  }

  package static func write(_ text: String, to path: String, mode: UInt32 = 0o600) throws {
    try write(Array(text.utf8), to: path, mode: mode)
  }

  package static func makeFolder(_ path: String) throws {
    guard mkdir(path, 0o700) == 0 else { throw Failure(description: "cannot make \(path): errno \(errno)") }
  }

  /// An empty one.
  package static func removeFolder(_ path: String) throws {
    guard rmdir(path) == 0 else { throw Failure(description: "cannot remove \(path): errno \(errno)") }
  }

  /// The `pabal` that was built beside the running tests.
  package static func pabal() throws -> String {
    #if os(Linux)
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let runner = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #else
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? ""
    let runner =
      bundle.split(separator: "/", omittingEmptySubsequences: false)
      .prefix { !$0.hasSuffix(".xctest") }.joined(separator: "/") + "/."
    #endif
    let folder = runner.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let path = folder + "/pabal"
    guard access(path, X_OK) == 0 else {
      throw Failure(description: "no executable \(path); build the product pabal with the same flags first")
    }
    return path
  }

  /// `pabal up` as a test kills it, built beside.
  package static func serverUnderTest() throws -> String {
    try pabal().dropLast("pabal".count) + "ServerUnderTest"
  }
}

/// A folder of the temporary one (`TMPDIR`) that lives as long as this value.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/pabal-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw TestFiles.Failure(description: "cannot make a temporary folder in \(base): errno \(errno)")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Self.remove(path) }

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  private static func remove(_ path: String) {
    // Before opendir(3), which would follow a link out of the folder.
    if unlink(path) == 0 { return }
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { remove("\(path)/\(name)") }
      }
      closedir(folder)
      rmdir(path)
    }
  }
}

/// Runs `body` with the path of a folder that is removed afterwards, with all that it holds by then.
package func withTemporaryFolder<Result>(_ body: (_ path: String) async throws -> Result) async throws -> Result {
  let folder = try TemporaryFolder()
  let result = try await body(folder.path)
  withExtendedLifetime(folder) {}
  return result
}

private func systemRead(_ file: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, buffer, count)
}

private func systemWrite(_ file: CInt, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, buffer, count)
}
