/// One header line as it came; pseudo headers included.
package struct StandInHeader: Sendable, Hashable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A connection of the stand-in's, numbered from 1 over both personalities.
package struct StandInConnectionID: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// A whole request: headers and body are in.
package struct StandInRequest: Sendable {
  package let connection: StandInConnectionID
  package let stream: Int32
  package let headers: [StandInHeader]
  package let body: [UInt8]
  /// The body was longer than `StandInLimits.bodyBytes` and was cut.
  package let bodyWasCut: Bool
  /// The header section was longer than the HTTP/2 layer keeps, and was cut.
  package let headersWereCut: Bool

  package init(
    connection: StandInConnectionID, stream: Int32, headers: [StandInHeader], body: [UInt8], bodyWasCut: Bool = false,
    headersWereCut: Bool = false
  ) {
    self.headersWereCut = headersWereCut
    self.connection = connection
    self.stream = stream
    self.headers = headers
    self.body = body
    self.bodyWasCut = bodyWasCut
  }
}

package struct StandInReply: Sendable, Equatable {
  package let status: Int
  package let headers: [StandInHeader]
  package let body: [UInt8]

  /// Its beginning, as of a server that stopped amid its answer.
  var half: StandInReply {
    StandInReply(status: status, headers: headers, body: Array(body.prefix(body.count / 2)))
  }
}

/// What the shell does for the core, in the order of the list.
package enum StandInAction: Sendable {
  case reply(StandInConnectionID, stream: Int32, StandInReply)
  /// The same, but the stream is not ended.
  case halfReply(StandInConnectionID, stream: Int32, StandInReply)
  /// RST_STREAM with an error code of RFC 9113 section 7.
  case reset(StandInConnectionID, stream: Int32, code: UInt32)
  /// GOAWAY NO_ERROR. `lastStream` is the highest stream that was or will be worked on.
  case goaway(StandInConnectionID, lastStream: Int32, debug: [UInt8])
  /// Closes after everything submitted has been written.
  case close(StandInConnectionID)
  /// Cuts the connection: what is not yet written is lost.
  case abort(StandInConnectionID)
  case streamLimit(StandInConnectionID, Int)
  /// Reads the connection at so many bytes a second; `nil` as fast as they come.
  case readRate(StandInConnectionID, bytesPerSecond: Int?)
  /// The inner actions, after a delay.
  indirect case later(milliseconds: Int, [StandInAction])
  /// A device link has something to say: ask `linkEvents`.
  case wake(StandInLinkID)

  /// The connection concerned, if one is.
  var connection: StandInConnectionID? {
    switch self {
    case .reply(let id, _, _), .halfReply(let id, _, _), .reset(let id, _, _), .goaway(let id, _, _), .close(let id),
      .abort(let id), .streamLimit(let id, _), .readRate(let id, _):
      id
    case .later, .wake: nil
    }
  }
}
