internal import CNghttp2

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The memory of one nghttp2 session: freed blocks are kept by size and given out again.
///
/// nghttp2 allocates and frees some six blocks for each request, with a thousand requests open: far beyond what the
/// caches of a general allocator hold. Here each costs a few instructions. What the session once used at the same time
/// stays with it until it ends; streams, queue and header table are bounded, so that is too.
///
/// Proof of the memory: a block is either in one free list or given out, never both. Before each block stand
/// `headerBytes` that nghttp2 does not see and we alone write: the block's class, or `large`, with its size. Chunks are
/// multiples of the alignment and so is every block. nghttp2 gives back only what it was given, once, and its session
/// is deleted before `deallocate`. On the session's thread only, as nghttp2 itself.
struct SessionMemory {
  private static let headerBytes = 16
  private static let classBytes = 64
  /// Longer blocks (frame buffers, tables that grow) are rare and come from the system.
  private static let classes = 32
  private static let large = UInt64.max
  private static let firstChunkBytes = 4 * 1024
  private static let lastChunkBytes = 128 * 1024

  /// The first block of each class; a free block begins with the next one's address.
  private let freeBlocks: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  /// What is left of the newest chunk.
  private var rest: UnsafeMutableRawPointer?
  private var restBytes = 0
  /// The newest chunk; each begins with the address of the one before.
  private var chunk: UnsafeMutableRawPointer?
  private var nextChunkBytes = Self.firstChunkBytes
  /// Blocks given out and not given back.
  private(set) var blocksInUse = 0

  init() {
    freeBlocks = .allocate(capacity: Self.classes)
    freeBlocks.initialize(repeating: nil, count: Self.classes)
  }

  /// After the session is deleted.
  func deallocate() {
    var next = chunk
    while let this = next {
      next = this.load(as: UnsafeMutableRawPointer?.self)
      this.deallocate()
    }
    freeBlocks.deallocate()
  }

  /// - Returns: a block of at least `size` bytes, aligned for anything; nil when the system has none.
  mutating func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
    let index = max(0, size - 1) / Self.classBytes
    guard index < Self.classes else { return allocateLarge(size) }
    blocksInUse += 1
    if let block = freeBlocks[index] {
      freeBlocks[index] = block.load(as: UnsafeMutableRawPointer?.self)
      return block
    }
    let bytes = Self.headerBytes + (index + 1) * Self.classBytes
    if restBytes < bytes { grow() }
    guard let start = rest else { return nil }
    rest = start + bytes
    restBytes -= bytes
    start.storeBytes(of: UInt64(index), as: UInt64.self)
    return start + Self.headerBytes
  }

  mutating func release(_ block: UnsafeMutableRawPointer) {
    let header = block - Self.headerBytes
    let index = header.load(as: UInt64.self)
    blocksInUse -= 1
    guard index != Self.large else { return free(header) }
    block.storeBytes(of: freeBlocks[Int(index)], as: UnsafeMutableRawPointer?.self)
    freeBlocks[Int(index)] = block
  }

  /// Bytes that a block has room for.
  static func capacity(_ block: UnsafeMutableRawPointer) -> Int {
    let header = block - headerBytes
    let index = header.load(as: UInt64.self)
    return index == large ? header.load(fromByteOffset: 8, as: Int.self) : (Int(index) + 1) * classBytes
  }

  private mutating func allocateLarge(_ size: Int) -> UnsafeMutableRawPointer? {
    guard let header = malloc(size + Self.headerBytes) else { return nil }
    blocksInUse += 1
    header.storeBytes(of: Self.large, as: UInt64.self)
    header.storeBytes(of: size, toByteOffset: 8, as: Int.self)
    return header + Self.headerBytes
  }

  /// What is left of the old chunk is lost; it is less than one block.
  private mutating func grow() {
    let new = UnsafeMutableRawPointer.allocate(byteCount: nextChunkBytes, alignment: Self.headerBytes)
    new.storeBytes(of: chunk, as: UnsafeMutableRawPointer?.self)
    chunk = new
    rest = new + Self.headerBytes
    restBytes = nextChunkBytes - Self.headerBytes
    nextChunkBytes = min(2 * nextChunkBytes, Self.lastChunkBytes)
  }
}

// MARK: - nghttp2

extension SessionMemory {
  static func make() -> UnsafeMutablePointer<SessionMemory> {
    let memory = UnsafeMutablePointer<SessionMemory>.allocate(capacity: 1)
    memory.initialize(to: SessionMemory())
    return memory
  }

  /// nghttp2's view; `memory` outlives the session.
  static func callbacks(_ memory: UnsafeMutablePointer<SessionMemory>) -> nghttp2_mem {
    nghttp2_mem(
      mem_user_data: UnsafeMutableRawPointer(memory),
      malloc: { size, data in SessionMemory.of(data).pointee.allocate(size) },
      free: { block, data in
        if let block { SessionMemory.of(data).pointee.release(block) }
      },
      calloc: { count, size, data in
        let (bytes, overflows) = count.multipliedReportingOverflow(by: size)
        guard !overflows, let block = SessionMemory.of(data).pointee.allocate(bytes) else { return nil }
        memset(block, 0, bytes)
        return block
      },
      realloc: { block, size, data in
        guard let block else { return SessionMemory.of(data).pointee.allocate(size) }
        let capacity = SessionMemory.capacity(block)
        if size <= capacity { return block }
        guard let longer = SessionMemory.of(data).pointee.allocate(size) else { return nil }
        longer.copyMemory(from: block, byteCount: capacity)
        SessionMemory.of(data).pointee.release(block)
        return longer
      })
  }

  private static func of(_ data: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<SessionMemory> {
    guard let data else { preconditionFailure("an nghttp2 session lost its memory") }
    return data.assumingMemoryBound(to: SessionMemory.self)
  }
}
