import ArgumentParsing

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Where a service keeps its files: a folder that the user named, or one that goes away with the process.
struct ServeFolder: Sendable {
  let path: String
  let isTemporary: Bool

  static func given(_ path: String) -> ServeFolder {
    ServeFolder(path: path, isTemporary: false)
  }

  /// Readable by this user only.
  static func temporary() throws(UsageError) -> ServeFolder {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/pabal-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw UsageError(
        "No folder can be made in \(base): \(String(cString: strerror(errno))). Give one with --data DIR.")
    }
    return ServeFolder(
      path: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), isTemporary: true)
  }

  func removeIfTemporary() {
    if isTemporary { Self.remove(path) }
  }

  private static func remove(_ path: String) {
    // Before opendir(3), which would follow a link out of the folder.
    guard unlink(path) != 0, let folder = opendir(path) else { return }
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
