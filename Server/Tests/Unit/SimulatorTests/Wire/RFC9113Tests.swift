import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// The stand-in's wire, byte by byte, against RFC 9113 sections 3 to 8.
///
/// Rows marked `ours` are decided by our options, call-backs and limits. The others are nghttp2's own; they stand here
/// because an option of ours could undo them. Section 3.2 (ALPN) is tested with curl, section 9 with OpenSSL.
@Suite struct RFC9113Tests {
  @Test(arguments: RFC9113Row.framesAndStreams + RFC9113Row.frameDefinitions + RFC9113Row.semantics)
  func row(_ row: RFC9113Row) throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      let rig = try WireRig(seed: seed)
      defer { rig.end() }
      let peer = rig.open()
      peer.send(row.frames(rig))
      rig.loop.runUntilIdle()
      check(row, rig, peer)
    }
  }

  private func check(_ row: RFC9113Row, _ rig: WireRig, _ peer: RawPeer) {
    switch row.result {
    case .answered(let status):
      #expect(peer.isAnswered(row.stream))
      #expect(rig.status(row.stream) == status)
    case .streamError(let codes):
      #expect(
        peer.reset(row.stream).map(codes.contains) == true, "RST_STREAM \(String(describing: peer.reset(row.stream)))")
      #expect(!peer.isAnswered(row.stream))
    case .connectionError(let codes):
      #expect(peer.goaway.map(codes.contains) == true, "GOAWAY \(String(describing: peer.goaway))")
      rig.loop.run(for: .seconds(10))
      #expect(peer.isClosed)
      return
    case .ignored: break
    }
    #expect(peer.goaway == nil)
    #expect(!peer.isClosed)
    #expect(rig.answers(peer, on: 101))
  }

  @Test("5.1.2 one stream, refused beyond; many after the first token") func streamLimit() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let early = rig.dial()
    early.acknowledges = false
    early.send(RawFrame.preface + RawFrame.settings().bytes)
    early.send(.headers(1, rig.push), .headers(3, rig.push))
    rig.loop.runUntilIdle()
    #expect(early.reset(3) == RFC9113Row.refused, "a client that has not read our SETTINGS yet may send again")
    early.send(.data(1, WireRig.body))
    rig.loop.runUntilIdle()
    #expect(early.isGood(1))

    let peer = rig.open()
    #expect(rig.answers(peer, on: 1))
    peer.send(.headers(3, rig.push), .headers(5, rig.push), .data(5, WireRig.body), .data(3, WireRig.body))
    rig.loop.runUntilIdle()
    #expect(peer.isGood(3) && peer.isGood(5))
    #expect(rig.core.withLock { $0.statistics.maxConcurrentSeen } == 2)
  }

  @Test("3.4 a first frame that is not SETTINGS, and a preface that is none, end the connection")
  func preface() throws {
    for bytes in [
      RawFrame.preface + RawFrame.ping().bytes, Array("POST / HTTP/1.1\r\nHost: a\r\n\r\n".utf8),
      Array("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".utf8),
    ] {
      let rig = try WireRig()
      defer { rig.end() }
      let peer = rig.dial()
      peer.send(bytes)
      rig.loop.run(for: .seconds(1))
      #expect(peer.goaway == 1)
      rig.loop.run(for: .seconds(10))
      #expect(peer.isClosed)
      #expect(rig.core.withLock { $0.statistics.connections } == 0)
    }
  }

  @Test("6.5.3 our SETTINGS come first, and the client's are acknowledged") func settings() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let peer = rig.open()
    let first = try #require(peer.frames.first)
    #expect(first.type == RawFrame.Kind.settings)
    #expect(first.flags == 0)
    // MAX_CONCURRENT_STREAMS 1.
    #expect(first.payload.starts(with: [0, 3, 0, 0, 0, 1]))
    #expect(peer.frames.contains { $0.type == RawFrame.Kind.settings && $0.flags == RawFrame.acknowledges })
    #expect(rig.answers(peer, on: 1))
    // 1000 once the token is known.
    #expect(peer.frames.contains { $0.type == RawFrame.Kind.settings && $0.payload == [0, 3, 0, 0, 3, 0xE8] })
  }

  @Test("6.7 PING comes back with its own eight bytes") func ping() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let peer = rig.open()
    peer.send(.ping("abcdefgh"))
    rig.loop.runUntilIdle()
    #expect(peer.frames.contains(.ping("abcdefgh", flags: RawFrame.acknowledges)))
    #expect(rig.core.withLock { $0.statistics.pings } == 1)
  }

  @Test("6.8 after the client's GOAWAY what is open is answered") func clientGoaway() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let peer = rig.open()
    peer.send(
      .headers(1, rig.push), RawFrame(type: RawFrame.Kind.goaway, payload: [UInt8](repeating: 0, count: 8)),
      .data(1, WireRig.body))
    rig.loop.runUntilIdle()
    #expect(peer.isGood(1))
  }

  @Test("6.9.2 a reply waits for the window, and comes when it opens") func window() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let peer = rig.open()
    peer.send(.settings([(4, 0)]), .headers(1, rig.push("apns-priority", nil) + [("apns-priority", "3")]))
    peer.send(.data(1, WireRig.body))
    rig.loop.runUntilIdle()
    #expect(rig.status(1) == 400)
    #expect(!peer.isAnswered(1))
    peer.send(.window(1, 1000))
    rig.loop.runUntilIdle()
    #expect(peer.isAnswered(1))
    let body = peer.frames.filter { $0.type == RawFrame.Kind.data }.flatMap(\.payload)
    #expect(String(decoding: body, as: UTF8.self) == #"{"reason":"BadPriority"}"#)
  }

  @Test("half a response: a head and half a body, and the stream stays open") func halfResponse() throws {
    let rig = try WireRig()
    defer { rig.end() }
    rig.core.withLock { core in
      _ = core.setFaults([FaultRule(times: 1, effect: .halfReply)], seed: 1)
    }
    let peer = rig.open()
    peer.send(.headers(1, rig.push + [("apns-priority", "3")]), .data(1, WireRig.body))
    rig.loop.run(for: .seconds(300))
    #expect(!peer.isAnswered(1))
    #expect(peer.frames.contains { $0.type == RawFrame.Kind.headers && $0.stream == 1 })
    let body = peer.frames.filter { $0.type == RawFrame.Kind.data }.flatMap(\.payload)
    #expect(String(decoding: body, as: UTF8.self) == #"{"reason":"B"#)
    #expect(peer.goaway == nil, "it is the stand-in that does not go on")
    #expect(rig.answers(peer, on: 3))
  }

  @Test("8.1 a stream answered before its body is in is reset with NO_ERROR") func earlyAnswer() throws {
    let rig = try WireRig()
    defer { rig.end() }
    rig.core.withLock { core in
      _ = core.setFaults([FaultRule(times: 1, effect: .resetAfterHeaders(code: 0))], seed: 1)
    }
    let peer = rig.open()
    peer.send(.headers(1, rig.push), .data(1, WireRig.body))
    rig.loop.runUntilIdle()
    #expect(peer.reset(1) == 0)
    #expect(rig.core.withLock { $0.statistics.taken } == 0)
    #expect(rig.answers(peer, on: 3))
  }
}
