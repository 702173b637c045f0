import APNs
import ArgumentParsing
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The file of `--resume`: which lines were handed to the engine and which have ended, so that after `kill -9` the same
/// command neither forgets a line nor sends one twice.
///
/// Text, appended only. It starts with the digest of what is sent to whom, and with the run's id, from which each
/// line's `apns-id` follows. A line's number is on the disk before a byte of its push can be on the wire. Outcomes are
/// written as they come and forced to the disk each second: what a power cut takes of them ends `unknown`.
final class SendJournal: Sendable {
  private struct State {
    var written: [UInt8] = []
    var isDirty = false
    var syncedAt: Instant
  }

  private static let title = "pabal send journal 1"
  private static let syncInterval = Duration.seconds(1)

  let path: String
  /// What earlier runs left.
  let found: JournalState
  private let runID: (UInt64, UInt64)
  private let file: Int32
  private let clock: Clock
  private let state: Locked<State>

  /// Makes the journal, or reads one that this command has begun.
  ///
  /// - Parameters:
  ///   - digest: of the list and all that is sent with it.
  ///   - lastLine: of the list.
  ///   - reopensUnknown: what an earlier run left `unknown` is to be sent again.
  /// - Throws: `journal_mismatch`, `journal_in_use` (exit code 5) or `journal_damaged`; `usage` when it cannot be
  ///   opened.
  init(
    _ path: String, digest: String, lastLine: Int, reopensUnknown: Bool, randomness: Randomness, clock: Clock
  ) throws {
    let file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw UsageError(
        "The journal \(path) cannot be opened: \(String(cString: strerror(errno)).lowercased()). Name a file in a "
          + "folder that exists and is yours.")
    }
    do {
      guard flock(file, LOCK_EX | LOCK_NB) == 0 else { throw JournalError.inUse(path) }
      let text = try Self.contents(file, path)
      if let head = Self.head(of: text) {
        guard head.digest == digest else { throw JournalError.mismatch(path) }
        runID = head.runID
        var state = try Self.read(text[head.end...], lastLine: lastLine, path: path)
        if reopensUnknown { state.reopenUnknown(last: lastLine) }
        found = state
        // A record that was being written when the machine stopped is none.
        let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        guard ftruncate(file, off_t(whole)) == 0 else { throw JournalError.unwritable(path, errno) }
      } else {
        runID = (randomness.uint64(), randomness.uint64())
        found = JournalState()
        let hex = [runID.0, runID.1].map { String($0, radix: 16) }.joined(separator: "-")
        guard ftruncate(file, 0) == 0 else { throw JournalError.unwritable(path, errno) }
        try Self.write(Array("\(Self.title)\ndigest \(digest)\nrun \(hex)\n".utf8), to: file, path)
        try Self.sync(file, path)
        Self.syncFolder(of: path)
      }
    } catch {
      close(file)
      throw error
    }
    self.path = path
    self.file = file
    self.clock = clock
    state = Locked(State(syncedAt: clock.monotonic()))
  }

  deinit { close(file) }

  /// The same for a line in every run of this journal.
  func apnsID(line: Int) -> APNsID {
    var octets: [UInt8] = []
    octets.reserveCapacity(16)
    // Two mixings of the whole id with the line: distinct lines have distinct first halves.
    for (half, other) in [(runID.0, runID.1), (runID.1, runID.0)] {
      var generator = SeededGenerator(seed: half ^ (UInt64(line) &* 0x9E37_79B9_7F4A_7C15) &+ other)
      withUnsafeBytes(of: generator.next().bigEndian) { octets.append(contentsOf: $0) }
    }
    return APNsID(octets: octets)
  }

  /// Puts the bounds of a block on the disk; afterwards it may be sent.
  ///
  /// - Parameter lines: in rising order. Takes as long as the disk does: not for Swift's own threads.
  func handOver(_ lines: [Int]) throws(JournalError) {
    var record: [UInt8] = []
    JournalRecord.appendHandedOver(lines, to: &record)
    try append(record)
    try sync()
  }

  /// - Returns: whether it is time to call `sync`.
  func end(_ lines: [(line: Int, ending: JournalState.Ending)]) throws(JournalError) -> Bool {
    var records: [UInt8] = []
    JournalRecord.appendEnded(lines, to: &records)
    try append(records)
    return state.withLock { $0.syncedAt.duration(to: clock.monotonic()) >= Self.syncInterval }
  }

  func sync() throws(JournalError) {
    let isDirty = state.withLock { state in
      defer { state.isDirty = false }
      state.syncedAt = clock.monotonic()
      return state.isDirty
    }
    if isDirty { try Self.sync(file, path) }
  }

  private func append(_ bytes: [UInt8]) throws(JournalError) {
    guard !bytes.isEmpty else { return }
    let failure = state.withLock { state -> JournalError? in
      do throws(JournalError) {
        try Self.write(bytes, to: file, path)
        state.isDirty = true
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  // MARK: - The file

  private static func head(of text: [UInt8]) -> (digest: String, runID: (UInt64, UInt64), end: Int)? {
    let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    guard lines.count == 4 else { return nil }
    let words = lines[..<3].map { String(decoding: $0, as: UTF8.self) }
    guard words[0] == title, words[1].hasPrefix("digest "), words[2].hasPrefix("run ") else { return nil }
    let halves = words[2].dropFirst(4).split(separator: "-").compactMap { UInt64($0, radix: 16) }
    guard halves.count == 2 else { return nil }
    return (String(words[1].dropFirst(7)), (halves[0], halves[1]), lines[3].startIndex)
  }

  private static func read(
    _ records: ArraySlice<UInt8>, lastLine: Int, path: String
  ) throws(JournalError) -> JournalState {
    var state = JournalState()
    var rest = records
    var number = 4
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let text = String(decoding: rest[..<end], as: UTF8.self)
      switch JournalRecord(text[...], last: lastLine) {
      case .handedOver(let ranges): for range in ranges { state.handOver(range) }
      case .ended(let ranges, let ending): for range in ranges { state.end(range, ending) }
      case nil: throw .damaged(path, at: number)
      }
      rest = rest[(end + 1)...]
      number += 1
    }
    return state
  }

  private static func contents(_ file: Int32, _ path: String) throws(JournalError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = pread(file, &chunk, chunk.count, off_t(bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unwritable(path, errno) }
      guard count > 0 else { break }
      bytes += chunk.prefix(count)
    }
    let isOurs = bytes.isEmpty || bytes.starts(with: Array(title.utf8)) || Array(title.utf8).starts(with: bytes)
    guard isOurs else { throw .foreign(path) }
    return bytes
  }

  private static func write(_ bytes: [UInt8], to file: Int32, _ path: String) throws(JournalError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .unwritable(path, errno) }
      rest = rest.dropFirst(count)
    }
  }

  private static func sync(_ file: Int32, _ path: String) throws(JournalError) {
    #if canImport(Darwin)
    let status = fsync(file)
    #else
    let status = fdatasync(file)
    #endif
    guard status == 0 else { throw .unwritable(path, errno) }
  }

  /// So that a power cut cannot take the new file's name. Where folders cannot be synced, nothing is lost but that.
  private static func syncFolder(of path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let folder = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "."
    let file = open(folder, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    fsync(file)
    close(file)
  }
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}

/// Why a journal cannot be used or carried on.
struct JournalError: ExitingError {
  let code: String
  let message: String
  let exitCode: ExitCode
  let place: Place

  private init(_ code: String, _ message: String, _ exitCode: ExitCode, file: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.exitCode = exitCode
    self.place = Place(file: file, line: line)
  }

  static func mismatch(_ path: String, file: String = #fileID, line: Int = #line) -> JournalError {
    JournalError(
      "journal_mismatch",
      "The journal \(path) belongs to another run: list, payload, headers, endpoint or topic have changed since. "
        + "Nothing was sent. Give them as they were, or another --resume file for a new run.", .conflict, file: file,
      line: line)
  }

  static func inUse(_ path: String, file: String = #fileID, line: Int = #line) -> JournalError {
    JournalError(
      "journal_in_use", "Another pabal is using the journal \(path). Wait for its end. Nothing was sent.", .conflict,
      file: file, line: line)
  }

  static func foreign(_ path: String, file: String = #fileID, line: Int = #line) -> JournalError {
    JournalError(
      "journal_foreign", "\(path) is no journal of pabal send, and is left as it is. Name a new file.", .usage,
      file: file, line: line)
  }

  static func damaged(_ path: String, at number: Int, file: String = #fileID, line: Int = #line) -> JournalError {
    JournalError(
      "journal_damaged",
      "The journal \(path) cannot be read at line \(number), so it is not known what was sent. Nothing was sent now. "
        + "Restore the file, or give another one to send to the whole list.", .usage, file: file, line: line)
  }

  static func unwritable(_ path: String, _ number: Int32, file: String = #fileID, line: Int = #line) -> JournalError {
    JournalError(
      "journal_unwritable",
      "The journal \(path) cannot be written: \(String(cString: strerror(number)).lowercased()). Sending was stopped; "
        + "make room and give the same command again.", .failure, file: file, line: line)
  }
}
