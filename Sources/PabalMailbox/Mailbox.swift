package import PabalPrimitives

/// A folder in the app group through which extensions hand records to the app.
///
/// One file a record, written under `tmp/` and renamed into `in/`; nobody ever holds a lock, so the system has no
/// reason to end a suspended process for one (0xdead10cc), and a process may die at any step: a record is there whole
/// or not at all. Several writers and one reader may work at the same time.
package struct Mailbox: Sendable {
  private let incoming: String
  private let temporary: String
  private let broken: String
  private let files: DurableFiles
  private let randomness: Randomness

  /// `folder` is the app group's container.
  package init(folder: String, files: DurableFiles = .live, randomness: Randomness = .system) {
    let root = folder + "/push/v1"
    incoming = root + "/in"
    temporary = root + "/tmp"
    broken = root + "/broken"
    self.files = files
    self.randomness = randomness
  }

  /// A record and the name to remove it by.
  package struct Entry: Sendable, Hashable {
    package let name: String
    package let record: MailboxRecord
  }

  /// Puts a record in; it survives a crash once this has returned. A full mailbox loses its oldest records.
  package func put(_ record: MailboxRecord) throws(DurableFileError) {
    try files.makeDirectory(incoming)
    try files.makeDirectory(temporary)
    try makeRoom()
    let name = Self.name(at: record.receivedAt, suffix: randomness.uint64())
    let bytes = record.encoded
    guard bytes.count <= MailboxLimits.recordBytes else {
      throw DurableFileError("write", number: MailboxLimits.tooBig)
    }
    try files.write("\(temporary)/\(name)", bytes)
    try files.rename("\(temporary)/\(name)", "\(incoming)/\(name)")
    try files.syncDirectory(incoming)
  }

  /// The records now in the mailbox, oldest first. A record that cannot be understood is set aside, not deleted.
  package func entries() throws(DurableFileError) -> [Entry] {
    var entries: [Entry] = []
    for name in try files.list(incoming).prefix(MailboxLimits.files) {
      guard let bytes = try files.read("\(incoming)/\(name)") else { continue }
      switch MailboxRecord.decode(bytes) {
      case .record(let record): entries.append(Entry(name: name, record: record))
      case .laterVersion: continue
      case .broken: try setAside(name)
      }
    }
    return entries
  }

  /// Takes handled records out. A crash before this means that they are seen again: whoever handles them must be
  /// idempotent.
  package func remove(_ entries: [Entry]) throws(DurableFileError) {
    guard !entries.isEmpty else { return }
    for entry in entries { try files.remove("\(incoming)/\(entry.name)") }
    try files.syncDirectory(incoming)
  }

  private func makeRoom() throws(DurableFileError) {
    let names = try files.list(incoming)
    for name in names.prefix(max(0, names.count - MailboxLimits.files + 1)) {
      try files.remove("\(incoming)/\(name)")
    }
    let leftovers = try files.list(temporary)
    for name in leftovers.prefix(max(0, leftovers.count - MailboxLimits.unfinishedFiles)) {
      try files.remove("\(temporary)/\(name)")
    }
  }

  private func setAside(_ name: String) throws(DurableFileError) {
    try files.makeDirectory(broken)
    let kept = try files.list(broken)
    for old in kept.prefix(max(0, kept.count - MailboxLimits.brokenFiles + 1)) { try files.remove("\(broken)/\(old)") }
    try files.rename("\(incoming)/\(name)", "\(broken)/\(name)")
  }

  /// Names sort by time of receipt.
  private static func name(at time: WallTime, suffix: UInt64) -> String {
    let stamp = String(max(0, time.milliseconds))
    let padded = String(repeating: "0", count: max(0, 14 - stamp.utf8.count)) + stamp
    let digits = String(suffix, radix: 16)
    return padded + "-" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

/// The mailbox is shared with processes that may run for weeks without the app: everything in it is bounded.
enum MailboxLimits {
  /// A receipt is about 120 bytes; with the next limit the folder stays below 1 MiB.
  static let recordBytes = 2_048
  static let files = 500
  /// What writers that died between write and rename may leave behind.
  static let unfinishedFiles = 32
  static let brokenFiles = 16
  /// EFBIG
  static let tooBig: Int32 = 27
}
