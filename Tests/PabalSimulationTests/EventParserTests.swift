import PabalSimulation
import Testing

@Suite struct EventParserTests {
  private let text =
    ": heartbeat\n\nid: in_1\nevent: push\ndata: {\"a\":\ndata:1}\n\nevent: ready\r\ndata: x\r\n\r\ndata\r\r: end\n"
  private let expected = [
    ServerSentEvent(id: "in_1", name: "push", data: "{\"a\":\n1}"),
    ServerSentEvent(id: "in_1", name: "ready", data: "x"),
    ServerSentEvent(id: "in_1", name: "message", data: ""),
  ]

  @Test func `events come out whole, however their bytes come in`() throws {
    for size in 1...text.utf8.count {
      var parser = EventParser()
      var events: [ServerSentEvent] = []
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        events += try parser.receive(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      #expect(events == expected, "in pieces of \(size)")
    }
  }

  @Test func `an event without end is refused`() {
    var parser = EventParser()
    #expect(throws: EventParser.Failure.tooLong) {
      while true { _ = try parser.receive(Array("data: 0123456789\n".utf8)) }
    }
    var line = EventParser()
    #expect(throws: EventParser.Failure.tooLong) {
      while true { _ = try line.receive(Array("0123456789".utf8)) }
    }
  }
}
