/// Bytes that a slow reader has not read yet, and how fast it reads them.
struct ReadPace {
  private let bytesPerSecond: Int
  private var held: [UInt8]
  private var start = 0

  init(bytesPerSecond: Int, held: [UInt8]) {
    self.bytesPerSecond = bytesPerSecond
    self.held = held
  }

  var isHolding: Bool { start < held.count }

  /// Between two pieces: a tenth of a second, or longer where that would be less than a byte.
  var interval: Duration {
    bytesPerSecond >= 10 ? .milliseconds(100) : .milliseconds(1000 / bytesPerSecond)
  }

  mutating func hold(_ bytes: UnsafeRawBufferPointer) {
    held.append(contentsOf: bytes)
  }

  /// What is read in one interval; `nil` when nothing is held.
  mutating func takePiece() -> [UInt8]? {
    guard isHolding else { return nil }
    let end = min(held.count, start + max(1, bytesPerSecond / 10))
    defer {
      start = end
      if start == held.count { (held, start) = ([], 0) }
    }
    return Array(held[start..<end])
  }

  mutating func takeAll() -> [UInt8] {
    defer { (held, start) = ([], 0) }
    return Array(held[start...])
  }
}
