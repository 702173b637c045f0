/// A PNG (RFC 2083) with a gradient, its image data in stored blocks (RFC 1951 section 3.2.4): no compressor is needed.
enum SamplePNG {
  static func bytes(side: Int) -> [UInt8] {
    var header = bigEndian(UInt32(side)) + bigEndian(UInt32(side))
    header += [8, 2, 0, 0, 0]  // 8 bits a channel, RGB, deflate, adaptive filter, not interlaced
    var rows: [UInt8] = []
    for y in 0..<side {
      rows.append(0)
      for x in 0..<side {
        rows += [UInt8(x * 255 / (side - 1)), UInt8(y * 255 / (side - 1)), 0x80]
      }
    }
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + chunk("IDAT", zlib(rows))
      + chunk("IEND", [])
  }

  private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + data
    return bigEndian(UInt32(data.count)) + body + bigEndian(crc32(body))
  }

  private static func zlib(_ data: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var start = 0
    while start < data.count {
      let count = min(65_535, data.count - start)
      let isLast = start + count == data.count
      stream += [isLast ? 1 : 0] + littleEndian(UInt16(count)) + littleEndian(~UInt16(count))
      stream += data[start..<start + count]
      start += count
    }
    return stream + bigEndian(adler32(data))
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var value = UInt32.max
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
    return ~value
  }

  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return high << 16 | low
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func littleEndian(_ value: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
  }
}
