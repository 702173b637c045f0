import Observability
import PabalPrimitives
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite struct DescriptorSinkTests {
  private let reading: Int32
  private let writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }

  /// What waits in the pipe, at most 64 KiB.
  private func waiting() -> String {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(reading, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test func `a line that does not fit keeps its name and loses its fields`() throws {
    defer { [reading, writing].forEach { close($0) } }
    let log = DescriptorSink(descriptor: writing, format: .json).log(minimumLevel: .info)
    log.event("a.long", "long", level: .info, ["field": .string(String(repeating: "x", count: 5000))])
    log.event("a.short", "short", level: .info, ["field": 1])
    let lines = try waiting().split(separator: "\n").map { try JSONSlice(parsing: Array($0.utf8)) }
    #expect(lines.map { $0["event"]?.string } == ["a.long", "a.short"])
    #expect(lines.map { $0["cut"]?.bool } == [true, nil])
    #expect(lines.map { $0["field"]?.int } == [nil, 1])
  }

  @Test func `a reader that does not read costs lines and no time`() {
    defer { [reading, writing].forEach { close($0) } }
    let sink = DescriptorSink(descriptor: writing, format: .text)
    let log = sink.log(minimumLevel: .info)
    for _ in 0..<2000 { log.event("a.b", "c", level: .info, ["x": .string(String(repeating: "y", count: 500))]) }
    #expect(sink.droppedCount > 0)
    #expect(waiting().split(separator: "\n").allSatisfy { $0.hasSuffix("\"") })
  }

  @Test func `a reader that is gone does not end the process`() {
    close(reading)
    defer { close(writing) }
    let sink = DescriptorSink(descriptor: writing, format: .text)
    sink.log(minimumLevel: .info).event("a.b", "c", level: .info)
    #expect(sink.droppedCount == 1)
  }
}
