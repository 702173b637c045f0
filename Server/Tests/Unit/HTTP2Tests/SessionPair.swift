import HTTP2
import PabalPrimitives

/// A client session and a server session back to back, with what each was told.
final class SessionPair {
  enum ClientNote: Equatable {
    case settings(maxConcurrentStreams: Int)
    case response(tag: UInt64, status: Int, body: String)
    case plainResponses([UInt64])
    case reset(tag: UInt64, code: HTTP2ErrorCode, hadStatus: Int?)
    case unprocessed([UInt64])
    case goaway(last: Int32, code: HTTP2ErrorCode, debug: String)
    case pong
    case windowOpened
  }

  enum ServerNote: Equatable {
    case settings
    case head(Int32)
    case request(Int32)
    case closed(Int32, HTTP2ErrorCode)
    case ping
  }

  let client: HTTP2ClientSession
  let server: HTTP2ServerSession
  var clientNotes: [ClientNote] = []
  var serverNotes: [ServerNote] = []
  var requests: [HTTP2ServerRequest] = []
  var responses: [UInt64: HTTP2Response] = [:]
  /// All frames that the client sent, as (type, flags, stream, length).
  var clientFrames: [(type: UInt8, flags: UInt8, stream: Int32, length: Int)] = []
  private var clientBytes: [UInt8] = []
  private var skippedPreface = false
  var now = Instant.zero
  var onHead: (HTTP2ServerRequest) -> Void = { _ in }
  var onRequest: (HTTP2ServerRequest) -> Void = { _ in }

  let template = HTTP2HeaderTemplate(
    authority: "api.push.apple.com", headers: [("apns-topic", "com.example.app")], uniqueHeader: "apns-id")

  init(
    maxConcurrentStreams: Int = 100, connectionWindow: Int = 1 << 20, streamWindow: Int = 1 << 20,
    requestBodyLimit: Int = 8192, flood: FloodBudget = FloodBudget(), firstStreamID: Int32 = 1,
    keptHeaders: [String]? = nil, plainStatus: Int = 0
  ) throws {
    client = try HTTP2ClientSession(
      keptHeaders: keptHeaders, plainStatus: plainStatus, firstStreamID: firstStreamID)
    server = try HTTP2ServerSession(
      maxConcurrentStreams: maxConcurrentStreams, requestBodyLimit: requestBodyLimit,
      connectionWindow: connectionWindow, streamWindow: streamWindow, flood: flood)
    client.delegate = self
    server.delegate = ServerEar(self)
  }

  /// Breaks the reference cycles that production's owners break at the end.
  func finish() {
    client.delegate = nil
    server.delegate = nil
    onHead = { _ in }
    onRequest = { _ in }
  }

  func submit(_ tag: UInt64, body: String = "{}") {
    client.submit(
      template: template, path: Array("/3/device/\(tag)".utf8), unique: Array("id-\(tag)".utf8),
      body: Array(body.utf8), tag: tag)
  }

  /// Client to server, once.
  func clientSpeaks() throws {
    var bytes: [UInt8] = []
    try client.drain { bytes.append(contentsOf: $0) }
    note(bytes)
    try bytes.withUnsafeBytes { try server.receive($0, now: now) }
  }

  /// Server to client, once.
  func serverSpeaks() throws {
    var bytes: [UInt8] = []
    try server.drain { bytes.append(contentsOf: $0) }
    try bytes.withUnsafeBytes { try client.receive($0, now: now) }
  }

  /// Until neither has more to say.
  func exchange() throws {
    while true {
      var bytes: [UInt8] = []
      try client.drain { bytes.append(contentsOf: $0) }
      note(bytes)
      try bytes.withUnsafeBytes { try server.receive($0, now: now) }
      var answer: [UInt8] = []
      try server.drain { answer.append(contentsOf: $0) }
      try answer.withUnsafeBytes { try client.receive($0, now: now) }
      if bytes.isEmpty, answer.isEmpty { return }
    }
  }

  private func note(_ bytes: [UInt8]) {
    clientBytes += bytes
    if !skippedPreface, clientBytes.count >= 24 {
      clientBytes.removeFirst(24)
      skippedPreface = true
    }
    while skippedPreface, clientBytes.count >= 9 {
      let length = Int(clientBytes[0]) << 16 | Int(clientBytes[1]) << 8 | Int(clientBytes[2])
      guard clientBytes.count >= 9 + length else { return }
      let stream = clientBytes[5..<9].reduce(0) { $0 << 8 | Int32($1) }
      clientFrames.append((clientBytes[3], clientBytes[4], stream, length))
      clientBytes.removeFirst(9 + length)
    }
  }
}

extension SessionPair: HTTP2ClientSessionDelegate {
  func sessionReceivedSettings() {
    clientNotes.append(.settings(maxConcurrentStreams: client.maxConcurrentStreams))
  }
  func sessionReceivedResponse(tag: UInt64, _ response: HTTP2Response) {
    responses[tag] = response
    let body = String(decoding: response.body, as: UTF8.self)
    clientNotes.append(.response(tag: tag, status: response.status, body: body))
  }
  func sessionReceivedPlainResponses(tags: [UInt64]) {
    clientNotes.append(.plainResponses(tags))
  }
  func sessionStreamReset(tag: UInt64, code: HTTP2ErrorCode, hadStatus: Int?) {
    clientNotes.append(.reset(tag: tag, code: code, hadStatus: hadStatus))
  }
  func sessionUnprocessed(tags: [UInt64]) {
    clientNotes.append(.unprocessed(tags))
  }
  func sessionReceivedGoaway(lastStreamID: Int32, code: HTTP2ErrorCode, debug: [UInt8]) {
    clientNotes.append(.goaway(last: lastStreamID, code: code, debug: String(decoding: debug, as: UTF8.self)))
  }
  func sessionReceivedPong() { clientNotes.append(.pong) }
  func sessionWindowOpened() { clientNotes.append(.windowOpened) }
}

/// Both delegates have a call of the same name, so the server's has a class of its own.
private final class ServerEar: HTTP2ServerSessionDelegate {
  unowned let pair: SessionPair

  init(_ pair: SessionPair) { self.pair = pair }

  func sessionReceivedSettings() { pair.serverNotes.append(.settings) }
  func sessionReceivedHead(_ head: HTTP2ServerRequest) {
    pair.serverNotes.append(.head(head.stream))
    pair.onHead(head)
  }
  func sessionReceivedRequest(_ request: HTTP2ServerRequest) {
    pair.serverNotes.append(.request(request.stream))
    pair.requests.append(request)
    pair.onRequest(request)
  }
  func sessionStreamClosed(_ stream: Int32, code: HTTP2ErrorCode) {
    pair.serverNotes.append(.closed(stream, code))
  }
  func sessionReceivedPing() { pair.serverNotes.append(.ping) }
}
