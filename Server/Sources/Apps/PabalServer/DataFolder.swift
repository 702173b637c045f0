import Cryptography
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The folder that outlives a server: `pabal.sqlite`, `master.key`, `profile.json`, `simulator/`, `lock`.
///
/// Files with secrets are 0600. One server at a time holds `lock`.
final class DataFolder: Sendable {
  let path: String
  private let isEphemeral: Bool
  private let lock: Int32

  private init(path: String, isEphemeral: Bool, lock: Int32) {
    self.path = path
    self.isEphemeral = isEphemeral
    self.lock = lock
  }

  var databasePath: String { path + "/pabal.sqlite" }
  var simulatorPath: String { path + "/simulator" }
  var standInIndexPath: String { simulatorPath + "/devices" }
  var providerTokenPath: String { simulatorPath + "/provider-token" }
  var profilePath: String { path + "/profile.json" }
  private var masterKeyPath: String { path + "/master.key" }

  enum Opening {
    case held(DataFolder)
    /// Another process holds the lock of the folder at this path.
    case taken(path: String)
  }

  static func open(_ folder: UpConfiguration.Folder) throws(UpError) -> Opening {
    let path: String
    let isEphemeral: Bool
    switch folder {
    case .kept(let name):
      (path, isEphemeral) = (try make(name), false)
    case .ephemeral:
      (path, isEphemeral) = (try makeTemporary(), true)
    }
    let descriptor = openFile(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw UpError(.dataFolder, "The folder \(path) cannot be written (\(reason())). Choose another with --data.")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return .taken(path: path)
    }
    guard mkdir(path + "/simulator", 0o700) == 0 || errno == EEXIST else {
      close(descriptor)
      throw UpError(.dataFolder, "The folder \(path) cannot be written (\(reason())). Choose another with --data.")
    }
    return .held(DataFolder(path: path, isEphemeral: isEphemeral, lock: descriptor))
  }

  /// Lets another server have the folder; an ephemeral one is removed.
  func leave() {
    if isEphemeral { Self.removeTree(path) }
    // A child process that was being started just now holds a copy of the descriptor: closing ours would not be enough.
    flock(lock, LOCK_UN)
    close(lock)
  }

  /// The key that all sealed data depends on; made at the first call.
  func masterKey() throws(UpError) -> [UInt8] {
    if let text = try Self.read(masterKeyPath) {
      let digits = text.split(whereSeparator: { $0.isWhitespace }).first.map(String.init) ?? ""
      guard let key = Hex.decode(digits), key.count == AES256GCM.keyByteCount else {
        throw UpError(
          .dataFolder, "\(masterKeyPath) is not 64 hexadecimal digits. Put the right file back; nothing was changed.")
      }
      return key
    }
    // A database without its key would be lost for good if a new key were made beside it.
    guard access(databasePath, F_OK) != 0 else {
      throw UpError(
        .dataFolder, "\(masterKeyPath) is missing, but \(databasePath) is sealed under it. Put the key file back.")
    }
    let key: [UInt8]
    do {
      key = try SecureRandom.bytes(AES256GCM.keyByteCount)
    } catch {
      throw UpError(.dataFolder, "The system gave no random bytes for a master key.", cause: error)
    }
    try Self.write(Array((Hex.encode(key) + "\n").utf8), to: masterKeyPath)
    return key
  }

  /// Makes the database's file for its owner only; the files beside it get the same permissions from SQLite.
  func prepareDatabase() throws(UpError) {
    let descriptor = openFile(databasePath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw UpError(.dataFolder, "\(databasePath) cannot be written (\(Self.reason())).")
    }
    close(descriptor)
  }

  /// Writes a file of 0600, whole or not at all: another name first, then a rename.
  static func write(_ bytes: [UInt8], to file: String) throws(UpError) {
    let draft = file + ".new"
    unlink(draft)
    let descriptor = openFile(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw UpError(.dataFolder, "\(draft) cannot be written (\(reason())).")
    }
    let isWritten = writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
    close(descriptor)
    guard isWritten, rename(draft, file) == 0, syncFolder(of: file) else {
      throw UpError(.dataFolder, "\(file) cannot be written (\(reason())).")
    }
  }

  /// Adds a line to a file of 0600. One call at a time for each file.
  static func append(_ line: String, to file: String) throws(UpError) {
    let descriptor = openFile(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw UpError(.dataFolder, "\(file) cannot be written (\(reason())).") }
    defer { close(descriptor) }
    let end = lseek(descriptor, 0, SEEK_END)
    guard writeAll(Array((line + "\n").utf8), to: descriptor) else {
      let reason = reason()
      // Half a line would spoil the next one.
      ftruncate(descriptor, end)
      throw UpError(.dataFolder, "\(file) cannot be written (\(reason)).")
    }
  }

  /// The text of a file; `nil` if there is none.
  static func read(_ file: String, atMost limit: Int = 8_388_608) throws(UpError) -> String? {
    let descriptor = openFile(file, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw UpError(.dataFolder, "\(file) cannot be read (\(reason())).")
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = chunk.withUnsafeMutableBytes { readBytes(descriptor, $0) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0, bytes.count + count <= limit else {
        throw UpError(.dataFolder, "\(file) cannot be read, or is too long (\(reason())).")
      }
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  // MARK: Folders

  /// The folder's absolute path.
  private static func make(_ name: String) throws(UpError) -> String {
    var parent = name.hasPrefix("/") ? "" : "."
    for part in name.split(separator: "/") {
      parent += "/\(part)"
      if mkdir(parent, 0o700) != 0, errno != EEXIST {
        throw UpError(.dataFolder, "The folder \(parent) cannot be made (\(reason())). Choose another with --data.")
      }
    }
    guard let resolved = realpath(name, nil) else {
      throw UpError(.dataFolder, "The folder \(name) cannot be used (\(reason())). Choose another with --data.")
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func makeTemporary() throws(UpError) -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/pabal-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw UpError(.dataFolder, "No temporary folder can be made in \(base) (\(reason())). Set TMPDIR.")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func removeTree(_ path: String) {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name == "." || name == ".." { continue }
        if unlink(path + "/" + name) != 0 { removeTree(path + "/" + name) }
      }
      closedir(folder)
    }
    rmdir(path)
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { writeBytes(descriptor, $0) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      written += count
    }
    return true
  }

  /// A new name is on the disk only when its folder is: a database without its key would be lost.
  private static func syncFolder(of file: String) -> Bool {
    let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let descriptor = openFile(folder, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return fsync(descriptor) == 0
  }

  private static func reason() -> String {
    String(cString: strerror(errno))
  }
}

// Three names that a method of the same name would hide.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}
private func writeBytes(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  write(descriptor, buffer.baseAddress, buffer.count)
}
