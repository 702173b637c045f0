internal import PabalPrimitives

/// What was cut out of a payload so that it fits.
package struct APNsTruncation: Hashable, Sendable {
  /// `aps.alert` or `aps.alert.body`.
  package let path: String
  /// Characters as a reader counts them: an emoji with its skin tone is one.
  package let charactersBefore: Int
  package let charactersAfter: Int
  /// Of the whole payload.
  package let bytesBefore: Int
  package let bytesAfter: Int

  /// For people; holds nothing of the text.
  package var sentence: String {
    "\(path) was cut from \(charactersBefore) to \(charactersAfter) characters and ends with …; "
      + "the payload has \(bytesAfter) bytes instead of \(bytesBefore)."
  }
}

extension APNsPayload {
  /// What ends a text that was cut: 3 bytes.
  static let ellipsis = "…"

  /// As `init(checking:for:)`, but a payload that is too large loses the end of its alert's body, between two
  /// characters as a reader counts them. Every other byte stays as it is.
  ///
  /// - Returns: the payload, and what was cut; `nil` when it fits as it is.
  /// - Throws: also `payload_too_large` when there is no body, or it is not the body that is too large.
  package static func fitting(
    _ source: [UInt8], for pushType: APNsPushType
  ) throws(APNsRequestError) -> (payload: APNsPayload, truncation: APNsTruncation?) {
    let bytes = withoutFinalNewline(source)
    let root = try parse(bytes)
    let limit = pushType.maximumPayloadBytes
    guard bytes.count > limit, let (path, body) = body(of: root), let text = body.string else {
      return (try APNsPayload(checking: bytes, for: pushType), nil)
    }
    let budget = limit - (bytes.count - body.bytes.count) - JSONValue.string(ellipsis).encoded.count
    let kept = prefix(of: text, fitting: budget)
    guard !kept.isEmpty else { return (try APNsPayload(checking: bytes, for: pushType), nil) }
    let replacement = JSONValue.string(kept + ellipsis).encoded
    let cut = bytes[..<body.bytes.startIndex] + replacement + bytes[body.bytes.endIndex...]
    let payload = try APNsPayload(checking: Array(cut), for: pushType)
    return (
      payload,
      APNsTruncation(
        path: path, charactersBefore: text.count, charactersAfter: kept.count, bytesBefore: bytes.count,
        bytesAfter: payload.bytes.count)
    )
  }

  private static func body(of root: JSONSlice) -> (path: String, value: JSONSlice)? {
    guard let alert = root["aps"]?["alert"] else { return nil }
    if alert.kind == .string { return ("aps.alert", alert) }
    return alert["body"].map { ("aps.alert.body", $0) }
  }

  /// The longest start of `text` that takes at most `budget` bytes in JSON.
  private static func prefix(of text: String, fitting budget: Int) -> String {
    var left = budget
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      let quotes = 2
      left -= JSONValue.string(String(text[end..<next])).encoded.count - quotes
      guard left >= 0 else { break }
      end = next
    }
    return String(text[..<end])
  }
}
