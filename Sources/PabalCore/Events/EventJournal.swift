package import PabalMailbox
package import PabalPrimitives

/// The events that the server has not acknowledged, in files that are only added to.
///
/// One event a line. A segment that is full, or about to be sent, is closed; a closed segment is one call, and is
/// deleted once the server has it. A process may die at any point: a torn last line is skipped, whatever was written
/// whole is sent again, and the server recognises what it had by the events' ids.
package struct EventJournal: Sendable {
  /// One closed segment, ready to be sent.
  package struct Batch: Sendable, Equatable {
    package let name: String
    package let events: [JSONValue]
  }

  private struct Segment: Sendable {
    var name: String
    var lines: Int
    var bytes: Int
  }

  private let folder: String
  private let files: DurableFiles
  private var closed: [Segment] = []
  private var active: Segment?
  private var nextNumber = 1
  private var recent: Set<String> = []
  private var recentOrder = RingBuffer<String>(capacity: EventLimits.remembered)
  /// Events given up because the journal was full.
  package private(set) var dropped = 0
  /// Lines that could not be read back.
  package private(set) var torn = 0

  /// Finds what an earlier process left behind.
  package init(folder: String, files: DurableFiles) throws(DurableFileError) {
    self.folder = folder
    self.files = files
    try files.makeDirectory(folder)
    for name in try files.list(folder) where name.hasSuffix(Self.ending) {
      guard let number = Int(name.dropLast(Self.ending.count)), let bytes = try files.read("\(folder)/\(name)") else {
        continue
      }
      nextNumber = max(nextNumber, number + 1)
      let lines = Self.lines(bytes)
      for event in lines.events { remember(event["eventId"]?.string) }
      closed.append(Segment(name: name, lines: lines.events.count, bytes: bytes.count))
    }
  }

  package var isEmpty: Bool { closed.isEmpty && active == nil }

  /// Writes the events that are new; they survive a crash once this has returned. Gives back how many were.
  package mutating func append(_ events: [ClientEvent]) throws(DurableFileError) -> Int {
    var written = 0
    var rest = events[...]
    while !rest.isEmpty {
      var segment = active ?? newSegment()
      var ids: Set<String> = []
      var text: [UInt8] = []
      while let event = rest.first, segment.lines + ids.count < EventLimits.batch,
        segment.bytes + text.count < EventLimits.segmentBytes
      {
        rest.removeFirst()
        guard !recent.contains(event.id), ids.insert(event.id).inserted else { continue }
        text += event.json.encoded + [UInt8(ascii: "\n")]
      }
      if !text.isEmpty { try write(text, ids, to: &segment) }
      written += ids.count
      if segment.lines >= EventLimits.batch || segment.bytes >= EventLimits.segmentBytes { close() }
    }
    try dropOverflow()
    return written
  }

  private mutating func write(
    _ text: [UInt8], _ ids: Set<String>, to segment: inout Segment
  ) throws(DurableFileError) {
    do throws(DurableFileError) {
      try files.append("\(folder)/\(segment.name)", text)
      if segment.lines == 0 { try files.syncDirectory(folder) }
    } catch {
      // Part of a line may stand there: nothing is ever written behind it.
      if segment.lines > 0 { close() }
      throw error
    }
    segment.lines += ids.count
    segment.bytes += text.count
    for id in ids { remember(id) }
    active = segment
  }

  /// The oldest events not acknowledged yet; closes the segment being written if there is no other.
  package mutating func nextBatch() throws(DurableFileError) -> Batch? {
    while true {
      if closed.isEmpty { close() }
      guard let segment = closed.first else { return nil }
      let read = Self.lines(try files.read("\(folder)/\(segment.name)") ?? [])
      torn += read.torn
      if !read.events.isEmpty {
        return Batch(name: segment.name, events: read.events.map(JSONValue.init))
      }
      try acknowledge(segment.name)
    }
  }

  /// The server has the batch.
  package mutating func acknowledge(_ name: String) throws(DurableFileError) {
    closed.removeAll { $0.name == name }
    try files.remove("\(folder)/\(name)")
  }

  /// The server will never take the batch: it is kept for a person to look at, a few of them.
  package mutating func quarantine(_ name: String) throws(DurableFileError) {
    closed.removeAll { $0.name == name }
    let place = folder + "/refused"
    try files.makeDirectory(place)
    let kept = try files.list(place)
    for old in kept.prefix(max(0, kept.count - EventLimits.refusedSegments + 1)) { try files.remove("\(place)/\(old)") }
    try files.rename("\(folder)/\(name)", "\(place)/\(name)")
  }

  private static let ending = ".jsonl"

  private mutating func newSegment() -> Segment {
    let digits = String(nextNumber)
    nextNumber += 1
    return Segment(
      name: String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits + Self.ending, lines: 0, bytes: 0)
  }

  private mutating func close() {
    if let active { closed.append(active) }
    active = nil
  }

  private mutating func dropOverflow() throws(DurableFileError) {
    while closed.reduce(0, { $0 + $1.bytes }) > EventLimits.journalBytes, let oldest = closed.first {
      dropped += oldest.lines
      try acknowledge(oldest.name)
    }
  }

  private mutating func remember(_ id: String?) {
    guard let id, recent.insert(id).inserted else { return }
    if let forgotten = recentOrder.append(id) { recent.remove(forgotten) }
  }

  private static func lines(_ bytes: [UInt8]) -> (events: [JSONSlice], torn: Int) {
    var events: [JSONSlice] = []
    var torn = 0
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      do throws(JSONError) {
        events.append(try JSONSlice(parsing: Array(line)))
      } catch {
        torn += 1
      }
    }
    return (events, torn)
  }
}

package enum EventLimits {
  /// The server's limit for one call.
  package static let batch = 500
  /// About 250 events; small enough to be sent in one go over a bad network.
  package static let segmentBytes = 65_536
  /// A phone that never reaches its server keeps this much of the latest past.
  package static let journalBytes = 5 * 1_048_576
  package static let refusedSegments = 16
  /// Ids remembered to recognise a repeated report.
  package static let remembered = 2_048
}
