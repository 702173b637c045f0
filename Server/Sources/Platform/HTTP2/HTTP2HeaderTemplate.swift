internal import CNghttp2

/// The headers that many requests share, in memory that does not move, so that nghttp2 reads them in place.
///
/// Order on the wire: `:method :scheme :authority :path`, the constant headers, the unique header. Make a new one when
/// a value changes (a provider token rotates); requests already submitted keep theirs alive.
///
/// Proof of `@unchecked Sendable`: the memory is written in `init`, never after, and freed in `deinit`.
package final class HTTP2HeaderTemplate: @unchecked Sendable {
  /// Where `:path` stands in `fields`.
  static let pathIndex = 3

  /// nghttp2's view. `:path` and the unique header have names but no values yet.
  let fields: UnsafeMutableBufferPointer<nghttp2_nv>
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Where the unique header stands: last.
  var uniqueIndex: Int { fields.count - 1 }

  /// - Parameters:
  ///   - headers: names in lower case, in the order to be sent.
  ///   - uniqueHeader: the name of the one header whose value differs for each request (`apns-id`). It is never put
  ///     into the compression table, which it would only churn.
  package init(
    method: String = "POST", scheme: String = "https", authority: String, headers: [(String, String)],
    uniqueHeader: String
  ) {
    var pairs: [(name: [UInt8], value: [UInt8])] = [
      (":method", method), (":scheme", scheme), (":authority", authority), (":path", ""),
    ].map { (Array($0.0.utf8), Array($0.1.utf8)) }
    for (name, value) in headers { pairs.append((Array(name.utf8), Array(value.utf8))) }
    pairs.append((Array(uniqueHeader.utf8), []))

    let total = pairs.reduce(0) { $0 + $1.name.count + $1.value.count }
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(total, 1))
    bytes.initialize(repeating: 0)
    let fields = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: pairs.count)
    fields.initialize(repeating: nghttp2_nv())

    let noCopyName = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
    let noCopyValue = UInt8(NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
    let noIndex = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
    var offset = 0
    func place(_ part: [UInt8]) -> UnsafeMutablePointer<UInt8>? {
      defer { offset += part.count }
      let start = bytes.baseAddress.map { $0 + offset }
      for (index, byte) in part.enumerated() { bytes[offset + index] = byte }
      return start
    }
    for (index, pair) in pairs.enumerated() {
      fields[index].name = place(pair.name)
      fields[index].namelen = pair.name.count
      fields[index].value = place(pair.value)
      fields[index].valuelen = pair.value.count
      let varies = index == Self.pathIndex || index == pairs.count - 1
      // The path is not indexed by nghttp2's own rule (RFC 7541 §7.1.3 leaves that to the encoder).
      fields[index].flags = varies ? noCopyName : noCopyName | noCopyValue
    }
    fields[pairs.count - 1].flags |= noIndex
    self.bytes = bytes
    self.fields = fields
  }

  deinit {
    fields.deallocate()
    bytes.deallocate()
  }
}
