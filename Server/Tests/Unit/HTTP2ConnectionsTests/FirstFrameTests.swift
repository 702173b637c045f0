import EventLoop
import HTTP2
import HTTP2Connections
import PabalPrimitives
import TestSupport
import Testing

/// A server that says given bytes, in given pieces, and nothing else.
private final class RawServer: ByteChannelHandler {
  private let pieces: [[UInt8]]
  private let loop: ScriptedLoop
  var channel: (any ByteChannel)?

  init(_ pieces: [[UInt8]], loop: ScriptedLoop) {
    self.pieces = pieces
    self.loop = loop
  }

  func speak() {
    for (index, piece) in pieces.enumerated() {
      loop.schedule(after: .milliseconds(20 * index)) { piece.withUnsafeBytes { self.channel?.write($0) } }
    }
  }

  func channelDidConnect() {}
  func channelDidReceive(_ bytes: UnsafeRawBufferPointer) {}
  func channelDidFlush(totalBytesTaken: UInt64) {}
  func channelDidClose(_ error: ChannelError?) { channel = nil }
}

@Suite("What a peer says first")
struct FirstFrameTests {
  private func hear(_ pieces: [[UInt8]]) throws -> [ClientEar.Note] {
    let loop = ScriptedLoop(seed: 3, network: ScriptedNetwork(chunksPerWrite: 1))
    defer { loop.end() }
    let listener = try loop.listen(on: Endpoint(host: "127.0.0.1", port: 0)) { channel in
      let server = RawServer(pieces, loop: loop)
      server.channel = channel
      server.speak()
      return server
    }
    let ear = ClientEar()
    let connection = HTTP2ClientConnection(
      loop: loop, configuration: .init(endpoint: .init(host: "127.0.0.1", port: listener.port), tls: nil),
      events: ear.hear)
    connection.start()
    loop.run(for: .seconds(5))
    return ear.notes
  }

  private let debug = Array(#"{"reason":"BadCertificate"}"#.utf8)
  private var goaway: [UInt8] {
    [0, 0, UInt8(8 + debug.count), 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2] + debug
  }

  @Test("GOAWAY before SETTINGS: what it says is told, and the dial has failed at once", arguments: [1, 3, 16, 200])
  func goawayFirst(size: Int) throws {
    let pieces = stride(from: 0, to: goaway.count, by: size).map { Array(goaway[$0..<min($0 + size, goaway.count)]) }
    let notes = try hear(pieces)
    #expect(notes.count == 2)
    #expect(notes.first == .goaway(0, .internalError, #"{"reason":"BadCertificate"}"#))
    #expect(notes.last == .closed(.turnedAway, lost: [], unsent: []))
  }

  @Test("SETTINGS byte by byte are SETTINGS")
  func settingsInPieces() throws {
    let settings: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 7]
    #expect(try hear(settings.map { [$0] }) == [.ready(7)])
  }

  @Test("What is neither ends the dial at once, not at its deadline")
  func somethingElse() throws {
    let notes = try hear([[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]])
    #expect(notes == [.closed(.protocolError(.protocolError), lost: [], unsent: [])])
  }
}
