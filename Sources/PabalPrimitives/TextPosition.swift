/// A place in a text, for messages: line and column from 1, the column in bytes, as compilers count.
public struct TextPosition: Sendable, Hashable {
  public let line: Int
  public let column: Int

  /// - Parameter offset: in bytes, from 0; beyond the end means the end.
  public init(of offset: Int, in bytes: [UInt8]) {
    var line = 1
    var start = 0
    for index in 0..<min(offset, bytes.count) where bytes[index] == 0x0A {
      line += 1
      start = index + 1
    }
    self.line = line
    column = min(offset, bytes.count) - start + 1
  }
}
