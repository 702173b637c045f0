import ArgumentParsing
import PabalModel
import PabalPrimitives

/// The lines of a token list: one device token a line; blank lines and lines that start with `#` are skipped.
///
/// Reads in chunks of 64 KiB, so that a list of any length takes the same memory.
struct TokenLines: Sendable {
  /// A token's hexadecimal digits, brackets and blanks around them; longer lines are no tokens.
  static let lineBytes = 2 * DeviceToken.maximumBytes + 1024

  struct Line {
    /// From 1, skipped lines counted.
    let number: Int
    /// `nil` when the line holds something else than a token.
    let token: DeviceToken?
  }

  private let file: InputFile
  private var buffer: [UInt8] = []
  private var start = 0
  private var number = 0
  private var isAtEnd = false

  init(_ file: InputFile) {
    self.file = file
  }

  /// The next line that is not skipped; `nil` after the last.
  mutating func next() throws(UsageError) -> Line? {
    while let range = try nextRange() {
      number += 1
      var line = buffer[range]
      if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
      guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }), first != UInt8(ascii: "#") else { continue }
      return Line(number: number, token: Self.token(line))
    }
    return nil
  }

  private mutating func nextRange() throws(UsageError) -> Range<Int>? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return start..<end
      }
      guard !isAtEnd else {
        defer { start = buffer.count }
        return start < buffer.count ? start..<buffer.count : nil
      }
      buffer.removeFirst(start)
      searched = buffer.count
      start = 0
      // An endless line is cut: it is no token, and the rest of it is none either.
      if buffer.count > Self.lineBytes { return try cutLine() }
      let chunk = try file.read(65_536)
      isAtEnd = chunk.isEmpty
      buffer += chunk
    }
  }

  private mutating func cutLine() throws(UsageError) -> Range<Int> {
    buffer.removeSubrange(Self.lineBytes...)
    while true {
      let chunk = try file.read(65_536)
      guard !chunk.isEmpty else {
        isAtEnd = true
        break
      }
      guard let end = chunk.firstIndex(of: UInt8(ascii: "\n")) else { continue }
      buffer += chunk[end...]
      break
    }
    let end = Self.lineBytes
    start = min(end + 1, buffer.count)
    return 0..<end
  }

  /// Bare lower-case digits are nearly all there is; everything else goes through the model's own reading.
  private static func token(_ line: ArraySlice<UInt8>) -> DeviceToken? {
    if let bytes = bareDigits(line) { return DeviceToken(bytes: bytes) }
    do {
      return try DeviceToken(parsing: String(decoding: line, as: UTF8.self))
    } catch {
      return nil
    }
  }

  private static func bareDigits(_ line: ArraySlice<UInt8>) -> [UInt8]? {
    guard line.count % 2 == 0, line.count <= 2 * DeviceToken.maximumBytes else { return nil }
    var isBare = true
    let bytes = [UInt8](unsafeUninitializedCapacity: line.count / 2) { target, count in
      line.withUnsafeBufferPointer { source in
        for index in 0..<(source.count / 2) {
          guard let high = Hex.value(of: source[2 * index]), let low = Hex.value(of: source[2 * index + 1]) else {
            isBare = false
            return
          }
          target[index] = high << 4 | low
          count = index + 1
        }
      }
    }
    return isBare ? bytes : nil
  }
}
