internal import Foundation

extension DurableFiles {
  /// The file system of the process.
  package static let live = DurableFiles(
    makeDirectory: { path throws(DurableFileError) in try POSIXFile.makeDirectory(path) },
    list: { folder throws(DurableFileError) in try POSIXFile.list(folder) },
    read: { path throws(DurableFileError) in try POSIXFile.read(path) },
    write: { path, bytes throws(DurableFileError) in
      try POSIXFile.put(bytes, at: path, flags: O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
    },
    append: { path, bytes throws(DurableFileError) in
      try POSIXFile.put(bytes, at: path, flags: O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC)
    },
    rename: { from, to throws(DurableFileError) in
      if Foundation.rename(from, to) != 0 { throw DurableFileError("rename", number: errno) }
    },
    remove: { path throws(DurableFileError) in
      if unlink(path) != 0, errno != ENOENT { throw DurableFileError("remove", number: errno) }
    },
    syncDirectory: { path throws(DurableFileError) in try POSIXFile.syncDirectory(path) })
}

private enum POSIXFile {
  static func makeDirectory(_ path: String) throws(DurableFileError) {
    var made = ""
    for part in path.split(separator: "/") {
      made += "/" + part
      if mkdir(made, 0o700) != 0, errno != EEXIST, errno != EISDIR, errno != EROFS, errno != EACCES, errno != EPERM {
        throw DurableFileError("make folder for", number: errno)
      }
    }
    if access(path, F_OK) != 0 { throw DurableFileError("make folder for", number: errno) }
  }

  static func list(_ folder: String) throws(DurableFileError) -> [String] {
    guard let directory = opendir(folder) else {
      if errno == ENOENT { return [] }
      throw DurableFileError("list", number: errno)
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  static func read(_ path: String) throws(DurableFileError) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw DurableFileError("open", number: errno)
    }
    defer { close(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = Foundation.read(file, &chunk, chunk.count)
      if count == 0 { return content }
      if count < 0 {
        if errno == EINTR { continue }
        throw DurableFileError("read", number: errno)
      }
      content.append(contentsOf: chunk[..<count])
    }
  }

  static func put(_ bytes: [UInt8], at path: String, flags: Int32) throws(DurableFileError) {
    let file = open(path, flags, 0o600)
    guard file >= 0 else { throw DurableFileError("open", number: errno) }
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.write(file, $0.baseAddress?.advanced(by: written), $0.count - written)
      }
      if count < 0 {
        if errno == EINTR { continue }
        let number = errno
        close(file)
        throw DurableFileError("write", number: number)
      }
      written += count
    }
    guard fsync(file) == 0 else {
      let number = errno
      close(file)
      throw DurableFileError("sync", number: number)
    }
    if close(file) != 0 { throw DurableFileError("close", number: errno) }
  }

  static func syncDirectory(_ path: String) throws(DurableFileError) {
    let folder = open(path, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { throw DurableFileError("open", number: errno) }
    defer { close(folder) }
    if fsync(folder) != 0 { throw DurableFileError("sync", number: errno) }
  }
}
