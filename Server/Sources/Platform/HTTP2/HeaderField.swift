internal import CNghttp2

/// RFC 7541 section 5.1: an integer that begins in the lower bits of a byte.
struct PrefixedInteger {
  /// The first byte lowest.
  private let bytes: UInt64
  let count: Int

  /// - Parameters:
  ///   - value: below 2^48, as everything that has a length here is.
  ///   - bits: of the first byte.
  ///   - flags: what stands above them.
  init(_ value: Int, bits: Int, flags: UInt8 = 0) {
    let most = (1 << bits) - 1
    guard value >= most else {
      bytes = UInt64(flags) | UInt64(value)
      count = 1
      return
    }
    var bytes = UInt64(flags) | UInt64(most)
    var count = 1
    var rest = value - most
    while rest >= 128 {
      bytes |= UInt64(rest & 127 | 128) << (8 * count)
      rest >>= 7
      count += 1
    }
    self.bytes = bytes | UInt64(rest) << (8 * count)
    self.count = count + 1
  }

  func append(to text: inout [UInt8]) {
    for index in 0..<count { text.append(UInt8(truncatingIfNeeded: bytes >> (8 * index))) }
  }

  /// - Returns: where it ends.
  func write(to start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    for index in 0..<count { start[index] = UInt8(truncatingIfNeeded: bytes >> (8 * index)) }
    return start + count
  }
}

/// One constant header in the forms that header compression (RFC 7541) has for it.
struct HeaderField: Sendable {
  let name: [UInt8]
  let value: [UInt8]
  /// Whether it may enter the table that both sides keep. Not what differs from one template to the next: it would
  /// only drive out what lasts.
  let mayBeIndexed: Bool
  /// Section 6.2.1: the peer puts it into its table.
  let indexing: [UInt8]
  /// Section 6.2.2: it does not.
  let plain: [UInt8]

  /// What it takes of a table, by section 4.1.
  var size: Int { name.count + value.count + 32 }
}

/// Makes header fields, with the strings in the shorter of their two forms.
///
/// nghttp2's own encoder does it: asked to keep a field out of its table it gives a reference to the static table or
/// the name, and the value, and these make up all forms. On one thread.
struct HeaderFieldMaker: ~Copyable {
  private static let tableBytes = 4096
  private let deflater: OpaquePointer?

  init() {
    var deflater: OpaquePointer?
    nghttp2_hd_deflate_new(&deflater, Self.tableBytes)
    self.deflater = deflater
  }

  deinit {
    nghttp2_hd_deflate_del(deflater)
  }

  func field(_ name: [UInt8], _ value: [UInt8], mayBeIndexed: Bool) -> HeaderField {
    let text = deflated(name, value)
    let (staticIndex, afterIndex) = Self.integer(in: text, at: 0, bits: 4)
    let reference = { (bits: Int, flags: UInt8) in
      var start: [UInt8] = []
      PrefixedInteger(staticIndex, bits: bits, flags: flags).append(to: &start)
      return start
    }
    let rest = text[afterIndex...]
    return HeaderField(
      name: name, value: value, mayBeIndexed: mayBeIndexed, indexing: reference(6, 0x40) + rest,
      plain: reference(4, 0) + rest)
  }

  /// The name of a field that is never indexed, without its value.
  func nameAlone(_ name: [UInt8]) -> [UInt8] {
    // An empty value is one byte.
    Array(field(name, [], mayBeIndexed: false).plain.dropLast())
  }

  private func deflated(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
    var (name, value) = (name, value)
    return name.withUnsafeMutableBufferPointer { name in
      value.withUnsafeMutableBufferPointer { value in
        var pair = nghttp2_nv(
          name: name.baseAddress, value: value.baseAddress, namelen: name.count, valuelen: value.count,
          flags: UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue))
        let bound = nghttp2_hd_deflate_bound(deflater, &pair, 1)
        return [UInt8](unsafeUninitializedCapacity: bound) { text, count in
          let written = nghttp2_hd_deflate_hd(deflater, text.baseAddress, bound, &pair, 1)
          precondition(written > 0, "a header fits into the bound of its own encoder, unless memory is exhausted")
          count = written
        }
      }
    }
  }

  /// - Returns: the value, and where the integer ends.
  private static func integer(in text: [UInt8], at start: Int, bits: Int) -> (value: Int, end: Int) {
    let most = (1 << bits) - 1
    var value = Int(text[start]) & most
    var end = start + 1
    guard value == most else { return (value, end) }
    var shift = 0
    while true {
      let byte = text[end]
      end += 1
      value += Int(byte & 127) << shift
      shift += 7
      if byte < 128 { return (value, end) }
    }
  }
}
