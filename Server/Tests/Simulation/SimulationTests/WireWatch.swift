import EventLoop
import HTTP2
import HTTP2Connections
import PabalPrimitives
import Simulator
import TestSupport

/// What the wire itself shows of a run, seen between the two sides: neither production nor the stand-in is asked.
final class WireWatch {
  /// A GOAWAY that reached the client.
  struct Goaway {
    let connection: Int
    let lastStreamID: Int32
    let at: Instant
  }

  private(set) var goaways: [Goaway] = []
  /// DATA frames that ended before their body did.
  private(set) var splitBodies = 0
  /// Of the connection whose bytes reached the server last.
  private(set) var lastSpeaker = 0
  private let loop: ScriptedLoop

  init(loop: ScriptedLoop) {
    self.loop = loop
  }

  func watch(_ connection: ScriptedConnection) {
    var fromClient = FrameReader(fromClient: true)
    var fromServer = FrameReader(fromClient: false)
    let number = connection.number
    connection.onArrival = { [unowned self] direction, bytes in
      if direction == .toServer {
        lastSpeaker = number
        for frame in fromClient.read(bytes) where frame.isData && !frame.endsStream { splitBodies += 1 }
      } else {
        for frame in fromServer.read(bytes) {
          guard let last = frame.lastStreamID else { continue }
          goaways.append(Goaway(connection: number, lastStreamID: last, at: loop.now))
        }
      }
    }
  }

  /// When the client learnt that a stream of a connection was not worked on.
  func gaveUp(_ stream: Int32, on connection: Int) -> Instant? {
    goaways.first { $0.connection == connection && $0.lastStreamID < stream }?.at
  }
}

/// Stands before the stand-in and says GOAWAY twice, as servers do that shut down gently: first that it will not take
/// more (2^31 - 1), some requests later where it really stopped (RFC 9113 section 6.8).
final class TwiceGoaway: HTTP2ServerHandler {
  /// A request that the second GOAWAY gave up; the stand-in never saw it.
  struct GivenUp {
    let apnsID: String
    let stream: Int32
    /// The scripted network's number.
    let connection: Int
  }

  private enum State {
    case open
    /// Requests until the second GOAWAY.
    case announced(left: Int)
    case gone
  }

  private let inner: StandInService
  private let watch: WireWatch
  private let loop: ScriptedLoop
  /// One request in so many begins the farewell; `nil`: never.
  private let oneIn: Int?
  private var chance: SeededGenerator
  private var states: [UInt64: State] = [:]
  private var highest: [UInt64: Int32] = [:]
  private var numbers: [UInt64: Int] = [:]
  private(set) var givenUp: [GivenUp] = []
  private(set) var times = 0

  init(_ inner: StandInService, watch: WireWatch, loop: ScriptedLoop, oneIn: Int?, seed: UInt64) {
    self.inner = inner
    self.watch = watch
    self.loop = loop
    self.oneIn = oneIn
    chance = SeededGenerator(seed: seed)
  }

  func connectionOpened(_ connection: HTTP2ServerConnection) {
    numbers[connection.id] = watch.lastSpeaker
    inner.connectionOpened(connection)
  }

  func requestHeadReceived(_ head: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    // What the farewell may still give up must not be acted on before.
    guard oneIn == nil else { return }
    inner.requestHeadReceived(head, on: connection)
  }

  func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    let id = connection.id
    switch states[id, default: .open] {
    case .open:
      if let oneIn, Int.random(in: 0..<oneIn, using: &chance) == 0 {
        connection.goaway(lastStreamID: .max, code: .noError, debug: [])
        states[id] = .announced(left: Int.random(in: 0...2, using: &chance))
        // A connection on which nothing more comes is closed some time after the farewell.
        loop.schedule(after: .seconds(45)) { connection.close() }
      }
      pass(request, on: connection)
    case .announced(let left) where left > 0:
      states[id] = .announced(left: left - 1)
      pass(request, on: connection)
    case .announced:
      // Streams may arrive out of order of their ids only in their ends: a lower one is answered before the word.
      guard request.stream > highest[id, default: 0] else { return pass(request, on: connection) }
      states[id] = .gone
      times += 1
      connection.goaway(lastStreamID: highest[id, default: 0], code: .noError, debug: [])
      giveUp(request, id)
    case .gone:
      if request.stream > highest[id, default: 0] { giveUp(request, id) } else { pass(request, on: connection) }
    }
  }

  private func giveUp(_ request: HTTP2ServerRequest, _ id: UInt64) {
    givenUp.append(
      GivenUp(
        apnsID: request.headers.string("apns-id") ?? "", stream: request.stream, connection: numbers[id, default: 0]))
  }

  private func pass(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    highest[connection.id] = max(highest[connection.id, default: 0], request.stream)
    inner.requestReceived(request, on: connection)
  }

  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {
    inner.streamClosed(stream, code: code, on: connection)
  }

  func pingReceived(on connection: HTTP2ServerConnection) { inner.pingReceived(on: connection) }

  func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) {
    inner.connectionClosed(connection, error: error)
  }
}
