/// What a session would take now, without a look at the session for each request.
package struct RequestRoom: Sendable {
  var streams: Int
  var windowBytes: Int
  let streamWindowBytes: Int

  package init(streams: Int = 0, windowBytes: Int = 0, streamWindowBytes: Int = 0) {
    self.streams = streams
    self.windowBytes = windowBytes
    self.streamWindowBytes = streamWindowBytes
  }

  /// Takes the room of one request. False, with nothing taken: ask `canSubmit`.
  package mutating func take(bodyBytes: Int) -> Bool {
    guard streams > 0, bodyBytes <= windowBytes, bodyBytes <= streamWindowBytes else { return false }
    streams -= 1
    windowBytes -= bodyBytes
    return true
  }
}

extension HTTP2ClientSession {
  /// A single request, whose parts lie apart.
  package func submit(
    template: HTTP2HeaderTemplate, path: [UInt8], unique: [UInt8], body: [UInt8], tag: UInt64
  ) {
    let head = path.count + unique.count
    submit(
      template: template, source: path + unique + body, path: 0..<path.count, unique: path.count..<head,
      body: head..<head + body.count, tag: tag)
  }
}
