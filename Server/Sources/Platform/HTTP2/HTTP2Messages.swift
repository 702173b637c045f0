/// An RFC 9113 §7 error code; unknown ones are kept.
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let noError = Self(rawValue: 0)
  package static let protocolError = Self(rawValue: 1)
  package static let internalError = Self(rawValue: 2)
  package static let flowControlError = Self(rawValue: 3)
  package static let settingsTimeout = Self(rawValue: 4)
  package static let streamClosed = Self(rawValue: 5)
  package static let frameSizeError = Self(rawValue: 6)
  package static let refusedStream = Self(rawValue: 7)
  package static let cancel = Self(rawValue: 8)
  package static let compressionError = Self(rawValue: 9)
  package static let connectError = Self(rawValue: 10)
  package static let enhanceYourCalm = Self(rawValue: 11)
  package static let inadequateSecurity = Self(rawValue: 12)
  package static let http11Required = Self(rawValue: 13)

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]

  package var description: String {
    rawValue < Self.names.count ? Self.names[Int(rawValue)] : "0x" + String(rawValue, radix: 16)
  }
}

/// A final response. Interim ones (1xx) are never shown.
package struct HTTP2Response: Sendable, Hashable {
  package var status: Int
  /// Without `:status`.
  package var headers: HTTP2HeaderBlock
  package var body: [UInt8]
  /// The body was longer than the session keeps; `body` is its beginning.
  package var bodyIsCut: Bool

  package init(status: Int, headers: HTTP2HeaderBlock = .init(), body: [UInt8] = [], bodyIsCut: Bool = false) {
    self.status = status
    self.headers = headers
    self.body = body
    self.bodyIsCut = bodyIsCut
  }
}

extension HTTP2Response {
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int) {
    let room = max(0, limit - body.count)
    body.append(contentsOf: bytes.prefix(room))
    if bytes.count > room { bodyIsCut = true }
  }
}

/// A request as a server received it.
package struct HTTP2ServerRequest: Sendable, Hashable {
  package var stream: Int32
  /// In the order received, with pseudo-headers and duplicates.
  package var headers: HTTP2HeaderBlock
  package var body: [UInt8]
  /// The body was longer than the session keeps; `body` is its beginning.
  package var bodyOverflowed: Bool
  /// The header section was longer than the session keeps; `headers` is its beginning.
  package var headersOverflowed: Bool

  package init(
    stream: Int32, headers: HTTP2HeaderBlock, body: [UInt8] = [], bodyOverflowed: Bool = false,
    headersOverflowed: Bool = false
  ) {
    self.stream = stream
    self.headers = headers
    self.body = body
    self.bodyOverflowed = bodyOverflowed
    self.headersOverflowed = headersOverflowed
  }
}
