package import PabalModel
package import PabalPrimitives

/// The body of a push: one JSON object, checked, exactly as it goes on the wire. It does not print.
package struct APNsPayload: Hashable, Sendable, Unprintable {
  package let bytes: [UInt8]

  /// Takes a text as it is; only a final newline is left out.
  ///
  /// - Throws: `payload_invalid` for a byte order mark, anything that is not strict JSON (with line and column), a root
  ///   that is not an object or an `aps` that is not one; `payload_too_large` with both numbers.
  package init(checking source: [UInt8], for pushType: APNsPushType) throws(APNsRequestError) {
    let bytes = Self.withoutFinalNewline(source)
    _ = try Self.parse(bytes)
    try Self.checkSize(bytes.count, for: pushType)
    self.bytes = bytes
  }

  /// The object inside `source`, for reading; `init(checking:for:)` is what makes it sendable.
  package static func parse(_ source: [UInt8]) throws(APNsRequestError) -> JSONSlice {
    guard !source.isEmpty else { throw .payload("The payload is empty. Give one JSON object with the member aps.") }
    guard !source.starts(with: [0xEF, 0xBB, 0xBF]) else {
      throw .payload("The payload starts with a byte order mark. Save the file as UTF-8 without one.")
    }
    let root: JSONSlice
    do {
      root = try JSONSlice(parsing: source)
    } catch {
      throw .payload("The payload is not valid JSON: \(error.message) `pabal payload lint` says how to mend it.")
    }
    guard root.kind == .object else { throw .payload("The payload must be one JSON object, found \(root.kind).") }
    if let aps = root["aps"], aps.kind != .object {
      throw .payload("The member aps must be an object, found \(aps.kind).")
    }
    return root
  }

  static func checkSize(_ count: Int, for pushType: APNsPushType) throws(APNsRequestError) {
    let limit = pushType.maximumPayloadBytes
    guard count <= limit else {
      throw APNsRequestError(
        code: "payload_too_large",
        message: "The payload has \(count) bytes; a push of type \(pushType.rawValue) may have \(limit). Shorten it.")
    }
  }

  /// What of a text is sent: all but one newline at its end.
  package static func withoutFinalNewline(_ source: [UInt8]) -> [UInt8] {
    guard source.last == UInt8(ascii: "\n") else { return source }
    var bytes = source
    bytes.removeLast()
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    return bytes
  }
}

/// One push to one device, ready to be written to a connection.
package struct APNsRequest: Sendable {
  package let token: DeviceToken
  package let head: APNsHead
  package let payload: APNsPayload

  package init(token: DeviceToken, head: APNsHead, payload: APNsPayload) {
    self.token = token
    self.head = head
    self.payload = payload
  }

  /// `/3/device/<token>`.
  package var path: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: APNsPath.count(to: token)) { text, count in
      count = APNsPath.write(to: token, into: UnsafeMutableRawBufferPointer(text), at: 0)
    }
  }
}

/// Where a push is posted to: `/3/device/<token>`.
package enum APNsPath {
  private static let start = Array("/3/device/".utf8)

  /// Bytes that `write` writes.
  package static func count(to token: DeviceToken) -> Int { start.count + 2 * token.bytes.count }

  /// Writes from `place`, into memory that has room for `count`.
  ///
  /// - Returns: where it ends.
  package static func write(to token: DeviceToken, into text: UnsafeMutableRawBufferPointer, at place: Int) -> Int {
    var end = place
    for byte in start {
      text[end] = byte
      end += 1
    }
    return Hex.write(token.bytes, into: text, at: end)
  }
}
