#if !os(iOS)
/// One event of a `text/event-stream`.
package struct ServerSentEvent: Sendable, Equatable {
  package var id: String?
  package var name: String
  package var data: String

  package init(id: String?, name: String, data: String) {
    self.id = id
    self.name = name
    self.data = data
  }
}

/// Reads events from bytes in pieces of any size. https://html.spec.whatwg.org/multipage/server-sent-events.html
package struct EventParser {
  package enum Failure: Error {
    /// A line or an event is longer than `PhoneLimits.eventBytes`.
    case tooLong
  }

  private var line: [UInt8] = []
  private var endedByReturn = false
  private var id: String?
  private var name = ""
  private var data: [String] = []
  private var dataBytes = 0

  package init() {}

  /// The events that `bytes` complete.
  package mutating func receive(_ bytes: some Sequence<UInt8>) throws(Failure) -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for byte in bytes {
      let isNewline = byte == UInt8(ascii: "\n")
      if isNewline, endedByReturn {
        endedByReturn = false
        continue
      }
      endedByReturn = byte == UInt8(ascii: "\r")
      if isNewline || endedByReturn {
        if let event = endLine() { events.append(event) }
      } else {
        line.append(byte)
      }
      guard line.count + dataBytes <= PhoneLimits.eventBytes else { throw .tooLong }
    }
    return events
  }

  private mutating func endLine() -> ServerSentEvent? {
    defer { line.removeAll(keepingCapacity: true) }
    if line.isEmpty { return dispatch() }
    let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    let field = String(decoding: parts[0], as: UTF8.self)
    var value = parts.count > 1 ? parts[1] : []
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    let text = String(decoding: value, as: UTF8.self)
    switch field {
    case "data":
      data.append(text)
      dataBytes += value.count + 1
    case "event": name = text
    case "id" where !value.contains(0): id = text
    default: break  // A comment has an empty name; unknown fields are skipped.
    }
    return nil
  }

  private mutating func dispatch() -> ServerSentEvent? {
    defer {
      name = ""
      data = []
      dataBytes = 0
    }
    guard !data.isEmpty else { return nil }
    return ServerSentEvent(id: id, name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
  }
}
#endif
