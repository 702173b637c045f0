/// One request of a client session. Trivial, at a fixed address; nghttp2 carries the address as the stream's data.
struct RequestSlot {
  var tag: UInt64 = 0
  var streamID: Int32 = 0
  /// The final response's status; 0 before it.
  var status: Int32 = 0
  /// Where path, value of the unique header and body begin in `source`, and their lengths.
  var pathStart = 0
  var uniqueStart = 0
  var bodyStart = 0
  var pathCount: Int32 = 0
  var uniqueCount: Int32 = 0
  var bodyCount: Int32 = 0
  var bodySent: Int32 = 0
  /// Its place on the shelf of templates, until its HEADERS leave.
  var template: Int32 = 0
  /// Counts how often the slot was used, so that a stale reference can be told.
  var generation: UInt32 = 0
  var isOpen = false
  /// Its HEADERS have left nghttp2.
  var isSerialised = false
  /// The kernel has a byte of its HEADERS.
  var isTaken = false
  /// Its end was reported, or the caller cancelled it.
  var isSettled = false
  /// Keeps the bytes of the request alive, beside the slot. Empty once the body has been read.
  var source: UnsafeMutablePointer<[UInt8]>
  /// In the list of free slots, or of those whose HEADERS wait in nghttp2.
  var next: UnsafeMutablePointer<RequestSlot>?
}

typealias RequestSlotPointer = UnsafeMutablePointer<RequestSlot>

/// Slots in chunks that never move; they are reused, never given back before the end.
struct RequestSlots {
  private static let chunkSize = 256

  private var chunks: [(slots: RequestSlotPointer, sources: UnsafeMutablePointer<[UInt8]>)] = []
  private var free: RequestSlotPointer?

  mutating func take() -> RequestSlotPointer {
    if free == nil { grow() }
    guard let slot = free else { preconditionFailure("a chunk has slots") }
    free = slot.pointee.next
    slot.pointee.next = nil
    slot.pointee.isOpen = true
    return slot
  }

  mutating func giveBack(_ slot: RequestSlotPointer) {
    slot.pointee.source.pointee = []
    slot.pointee = RequestSlot(
      generation: slot.pointee.generation &+ 1, source: slot.pointee.source, next: free)
    free = slot
  }

  /// Open slots in no particular order.
  func visitOpen(_ body: (RequestSlotPointer) -> Void) {
    for chunk in chunks {
      for index in 0..<Self.chunkSize where chunk.slots[index].isOpen { body(chunk.slots + index) }
    }
  }

  private mutating func grow() {
    let slots = RequestSlotPointer.allocate(capacity: Self.chunkSize)
    let sources = UnsafeMutablePointer<[UInt8]>.allocate(capacity: Self.chunkSize)
    sources.initialize(repeating: [], count: Self.chunkSize)
    for index in (0..<Self.chunkSize).reversed() {
      (slots + index).initialize(to: RequestSlot(source: sources + index, next: free))
      free = slots + index
    }
    chunks.append((slots, sources))
  }

  func deallocate() {
    for chunk in chunks {
      chunk.sources.deinitialize(count: Self.chunkSize)
      chunk.sources.deallocate()
      chunk.slots.deallocate()
    }
  }
}

/// First in, first out: where in the byte stream each request's HEADERS begin, until the kernel has them.
struct HeadMarks {
  struct Mark {
    var slot: RequestSlotPointer
    var generation: UInt32
    var offset: UInt64
  }

  private var marks: [Mark] = []
  private var start = 0

  var count: Int { marks.count - start }

  func isAny(before offset: UInt64) -> Bool { start < marks.count && marks[start].offset < offset }

  mutating func append(_ mark: Mark) { marks.append(mark) }

  /// Takes those that begin before `offset`.
  mutating func take(before offset: UInt64, _ body: (Mark) -> Void) {
    while start < marks.count, marks[start].offset < offset {
      body(marks[start])
      start += 1
    }
    if start == marks.count {
      marks.removeAll(keepingCapacity: true)
      start = 0
    } else if start >= 4096 {
      marks.removeSubrange(..<start)
      start = 0
    }
  }
}
