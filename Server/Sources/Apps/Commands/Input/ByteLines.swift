package import ArgumentParsing

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The lines of a file, one after another, cut out of one buffer: a list of any length takes the same memory.
package struct ByteLines: Sendable {
  package static let chunkBytes = 65_536

  private let file: InputFile
  private let lineBytes: Int
  private let isStopped: (@Sendable () -> Bool)?
  private var buffer: [UInt8]
  private var start = 0
  private var end = 0
  private var isAtEnd = false
  /// Of the last line, from 1.
  package private(set) var number = 0
  /// The last line was longer than allowed; what came of it is its beginning.
  package private(set) var isCut = false

  /// - Parameters:
  ///   - lineBytes: longer lines are cut.
  ///   - isStopped: asked while a stream has nothing to read; `true` ends it there.
  package init(_ file: InputFile, lineBytes: Int, isStopped: (@Sendable () -> Bool)? = nil) {
    self.file = file
    self.lineBytes = lineBytes
    self.isStopped = isStopped
    buffer = [UInt8](repeating: 0, count: lineBytes + Self.chunkBytes)
  }

  /// Where the next line is, without its line feed, for `bytes(_:_:)` until the next call; `nil` after the last one.
  ///
  /// A byte order mark at the start of the file is left out.
  package mutating func next() throws(UsageError) -> Range<Int>? {
    isCut = false
    var searched = start
    while true {
      if let feed = lineFeed(from: searched) { return take(upTo: feed, next: feed + 1) }
      if isAtEnd { return start < end ? take(upTo: end, next: end) : nil }
      if end - start > lineBytes { return try cut() }
      moveToFront()
      searched = end
      try fill()
    }
  }

  /// Whether there is something to read at once, if only a part of a line.
  package var isReady: Bool {
    isAtEnd || lineFeed(from: start) != nil || file.hasBytes
  }

  package func bytes<Result>(_ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    buffer.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
  }

  package func copy(_ range: Range<Int>) -> [UInt8] { [UInt8](buffer[range]) }

  private mutating func take(upTo last: Int, next: Int) -> Range<Int> {
    var first = start
    start = next
    number += 1
    isCut = last - first > lineBytes
    let isMarked = number == 1 && last - first >= 3 && buffer[first..<(first + 3)].elementsEqual([0xEF, 0xBB, 0xBF])
    if isMarked { first += 3 }
    return first..<(isCut ? first + lineBytes : last)
  }

  private func lineFeed(from position: Int) -> Int? {
    buffer.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, position < end else { return nil }
      guard let found = memchr(base + position, 0x0A, end - position) else { return nil }
      return base.distance(to: UnsafeRawPointer(found))
    }
  }

  private mutating func moveToFront() {
    guard start > 0 else { return }
    let rest = start..<end
    buffer.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      memmove(base, base + rest.lowerBound, rest.count)
    }
    start = 0
    end = rest.count
  }

  private mutating func fill() throws(UsageError) {
    if let isStopped, !file.waitForBytes(unless: isStopped) {
      isAtEnd = true
      return
    }
    let count = try file.read(into: &buffer, from: end)
    isAtEnd = count == 0
    end += count
  }

  /// Drops the rest of a line without an end.
  private mutating func cut() throws(UsageError) -> Range<Int> {
    moveToFront()
    end = lineBytes
    number += 1
    isCut = true
    var searched = lineBytes
    while true {
      try fill()
      if let feed = lineFeed(from: searched) {
        start = feed + 1
        return 0..<lineBytes
      }
      guard !isAtEnd else {
        start = end
        return 0..<lineBytes
      }
      end = lineBytes
      searched = lineBytes
    }
  }
}
