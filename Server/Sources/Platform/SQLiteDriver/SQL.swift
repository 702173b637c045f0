/// A statement's text. Made from a literal without interpolation only, so values can be bound and nothing else.
package struct SQL: ExpressibleByStringLiteral, Sendable {
  let text: StaticString

  package init(stringLiteral text: StaticString) {
    self.text = text
  }

  /// The literal's address: the same statement has the same one for the life of the process.
  var identity: UInt {
    UInt(bitPattern: text.utf8Start)
  }
}

/// What is bound to a parameter.
package enum SQLiteValue: Sendable, Hashable, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  package init(integerLiteral value: Int64) {
    self = .integer(value)
  }

  package init(nilLiteral: ()) {
    self = .null
  }

  package init(_ number: Int64?) {
    self = number.map(SQLiteValue.integer) ?? .null
  }

  package init(_ number: Int?) {
    self = number.map { .integer(Int64($0)) } ?? .null
  }

  package init(_ text: String?) {
    self = text.map(SQLiteValue.text) ?? .null
  }

  package init(_ bytes: [UInt8]?) {
    self = bytes.map(SQLiteValue.blob) ?? .null
  }

  package init(_ flag: Bool?) {
    self = flag.map { .integer($0 ? 1 : 0) } ?? .null
  }
}
