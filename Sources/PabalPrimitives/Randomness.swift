#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A source of random bytes that code is given, so that a run can be repeated from a seed.
public struct Randomness: Sendable {
  /// Returns exactly as many bytes as asked for.
  public var fill: @Sendable (Int) -> [UInt8]

  public init(fill: @escaping @Sendable (Int) -> [UInt8]) {
    self.fill = fill
  }

  /// The operating system's generator, fit for keys and tokens.
  public static let system = Randomness { count in
    var generator = SystemRandomNumberGenerator()
    return bytes(count, from: &generator)
  }

  /// The same bytes for the same seed. Never for keys.
  public static func seeded(_ seed: UInt64) -> Randomness {
    let generator = Locked(SeededGenerator(seed: seed))
    return Randomness { count in generator.withLock { bytes(count, from: &$0) } }
  }

  public func uint64() -> UInt64 {
    fill(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func bytes(_ count: Int, from generator: inout some RandomNumberGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      var word: UInt64 = generator.next()
      for _ in 0..<min(8, count - bytes.count) {
        bytes.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
    return bytes
  }
}

/// SplitMix64: small, fast, and the same on every machine. Not for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) {
    state = seed
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
