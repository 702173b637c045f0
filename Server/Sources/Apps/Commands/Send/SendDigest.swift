import ArgumentParsing
import Cryptography
import PabalModel
import PabalPrimitives

/// What a journal belongs to: the same list, payload, headers, endpoint and topic give the same digest.
enum SendDigest {
  /// - Parameter parts: everything but the list.
  /// - Returns: 64 hexadecimal digits.
  static func make(list: DeviceList, parts: [[UInt8]]) throws -> String {
    var value: [UInt8] = []
    for part in parts { value = try SHA256.hash(value + (try SHA256.hash(part))) }
    switch list.source {
    case .listed(let lines):
      for line in lines {
        if case .device(let token, _) = line.content { value = try SHA256.hash(value + token.bytes) }
      }
    case .file(let file, let format):
      value = try SHA256.hash(value + Array(format.rawValue.utf8))
      value = try chain(file, onto: value)
    case .stream(let file, _):
      throw UsageError("--resume needs a list that can be read again, not \(file.path). Put it into a file.")
    }
    return Hex.encode(value)
  }

  /// Each chunk hashed behind the hash of those before it: a list of any length takes one chunk of memory.
  private static func chain(_ file: InputFile, onto start: [UInt8]) throws -> [UInt8] {
    var value = start
    var chunk = [UInt8](repeating: 0, count: 4 * ByteLines.chunkBytes)
    file.rewind()
    while true {
      var filled = 0
      // Short reads would cut the chunks elsewhere and change the digest.
      while filled < chunk.count {
        let count = try file.read(into: &chunk, from: filled)
        guard count > 0 else { break }
        filled += count
      }
      guard filled > 0 else { break }
      value = try SHA256.hash(value + chunk.prefix(filled))
    }
    file.rewind()
    return value
  }
}
