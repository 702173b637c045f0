import PabalModel
import PabalPrimitives

/// The tokens of the pushes that are under way, by tag; kept in blocks, so that a push costs no entry of its own.
final class SendTokens: Sendable {
  struct Entry: Sendable {
    let line: Int
    let token: DeviceToken
  }

  private struct Block {
    var entries: [Entry]
    var open: Int
  }

  /// Pushes of one block at most. A tag is a block's number times this, plus a place in it.
  static let blockSize = 1024
  private let blocks = Locked<[UInt64: Block]>([:])

  func add(_ block: SendBlock) {
    guard !block.entries.isEmpty else { return }
    blocks.withLock { $0[block.number] = Block(entries: block.entries, open: block.entries.count) }
  }

  /// Looks up one entry for each tag and forgets blocks that are through.
  func take(_ tags: [UInt64], _ body: (Entry, Int) -> Void) {
    blocks.withLock { blocks in
      for (index, tag) in tags.enumerated() {
        let number = tag / UInt64(Self.blockSize)
        guard let block = blocks[number] else { preconditionFailure("an outcome without its push") }
        body(block.entries[Int(tag % UInt64(Self.blockSize))], index)
        if block.open == 1 {
          blocks[number] = nil
        } else {
          blocks[number]?.open = block.open - 1
        }
      }
    }
  }
}
