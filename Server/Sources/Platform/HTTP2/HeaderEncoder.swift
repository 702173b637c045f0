/// Compresses the header sections of requests (RFC 7541), most of which say the same but for path and unique header.
///
/// What a template says is encoded once and kept until the table or the template changes: a request costs a copy of it,
/// where nghttp2's encoder looks every field up again and, since it never indexes `authorization`, codes the provider
/// token anew. Apple allows that value to be indexed. The two strings that differ are sent as they are: coding
/// them would save 32 bytes a request and cost more than the copy of all others.
///
/// One for each connection; called in the order in which the header sections go on the wire.
struct HeaderEncoder {
  private var table = HeaderTable()
  /// Sizes that the peer is to be told of (section 4.2): the smallest since the last header section, and the present.
  private var announced: (smallest: Int, now: Int)?

  /// What `opening` and `rest` belong to.
  private var template: HTTP2HeaderTemplate?
  /// They will do for the next request, too.
  private var isSteady = false
  /// A header section up to the path's length.
  private(set) var opening: [UInt8] = []
  /// From the path's end to the length of the unique header's value.
  private(set) var rest: [UInt8] = []

  /// The peer's SETTINGS_HEADER_TABLE_SIZE.
  mutating func limitTable(_ bytes: Int) {
    let limit = min(bytes, HeaderTable.bytes)
    guard limit != table.limit else { return }
    table.limit = limit
    announced = (min(announced?.smallest ?? limit, limit), limit)
    isSteady = false
  }

  /// Makes `opening` and `rest` those of the next request.
  mutating func prepare(_ next: HTTP2HeaderTemplate) {
    if isSteady, template === next { return }
    template = next
    isSteady = true
    opening.removeAll(keepingCapacity: true)
    rest.removeAll(keepingCapacity: true)
    announceSize()
    // `:method POST` and `:scheme https` of the static table.
    opening += [0x83, 0x87]
    var inserted = table.put(next.authority, into: &opening)
    // `:path`, not indexed.
    opening.append(0x04)
    for field in next.constants {
      if table.put(field, into: &rest) { inserted = true }
    }
    rest += next.uniqueName
    if inserted { isSteady = false }
  }

  private mutating func announceSize() {
    guard let (smallest, now) = announced else { return }
    announced = nil
    isSteady = false
    if smallest < now { PrefixedInteger(smallest, bits: 5, flags: 0x20).append(to: &opening) }
    PrefixedInteger(now, bits: 5, flags: 0x20).append(to: &opening)
  }
}

/// What both sides of a connection have in their tables for one direction.
private struct HeaderTable {
  /// What is used of a peer's table, and the size that both sides begin with.
  static let bytes = 4096

  /// The oldest first.
  private var fields: [HeaderField] = []
  private var used = 0
  var limit = Self.bytes {
    didSet { evict(to: limit) }
  }

  /// Appends a field to a header section in the shortest form that there is.
  ///
  /// - Returns: whether it entered the table.
  mutating func put(_ field: HeaderField, into text: inout [UInt8]) -> Bool {
    guard field.mayBeIndexed else {
      text += field.plain
      return false
    }
    if let place = fields.lastIndex(where: { $0.value == field.value && $0.name == field.name }) {
      // 61 entries are static; the newest of ours is the 62nd.
      PrefixedInteger(61 + fields.count - place, bits: 7, flags: 0x80).append(to: &text)
      return false
    }
    // One that fills the table would drive out all others, and return the favour with the next template.
    guard field.size <= limit * 3 / 4 else {
      text += field.plain
      return false
    }
    text += field.indexing
    evict(to: limit - field.size)
    fields.append(field)
    used += field.size
    return true
  }

  private mutating func evict(to bytes: Int) {
    while used > bytes, let oldest = fields.first {
      used -= oldest.size
      fields.removeFirst()
    }
  }
}
