/// One request as it came over the wire.
package struct WireLogEntry: Sendable {
  package let sequence: Int
  package let connection: StandInConnectionID
  package let environment: StandInEnvironment
  package let stream: Int32
  /// In the order received; the value of `authorization` is replaced by its SHA-256.
  package let headers: [StandInHeader]
  package let bodyBytes: Int
  /// `nil` when no reply was sent.
  package let status: Int?
  package let reason: String?
  /// What exactly was wrong, in the stand-in's words; never on the wire.
  package let detail: String?
  /// Index of the fault rule that decided.
  package let faultRule: Int?
  package let device: String?
  /// Whether the push reached a device's inbox.
  package let taken: Bool
  /// Milliseconds since 1970.
  package let at: Int64

  var size: Int { headers.reduce(96) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 } }
}

/// The newest requests within a bound of number and size; what fell out is counted.
struct WireLog: Sendable {
  private var entries: [WireLogEntry] = []
  private var head = 0
  private var bytes = 0
  private(set) var dropped = 0
  private let capacity: Int
  private let byteCapacity: Int

  init(capacity: Int, bytes: Int) {
    self.capacity = capacity
    byteCapacity = bytes
  }

  var newestLast: ArraySlice<WireLogEntry> { entries[head...] }

  mutating func append(_ entry: WireLogEntry) {
    entries.append(entry)
    bytes += entry.size
    while entries.count - head > capacity || (bytes > byteCapacity && entries.count - head > 1) {
      bytes -= entries[head].size
      head += 1
      dropped += 1
    }
    if head > capacity { compact() }
  }

  mutating func removeAll() {
    entries = []
    head = 0
    bytes = 0
    dropped = 0
  }

  private mutating func compact() {
    entries.removeFirst(head)
    head = 0
  }
}
