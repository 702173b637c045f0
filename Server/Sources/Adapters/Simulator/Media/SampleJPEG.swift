/// A JPEG (ITU-T T.81) of 8 × 8 pixels of one grey, baseline, with the smallest tables that decode it.
enum SampleJPEG {
  static let bytes: [UInt8] =
    [0xFF, 0xD8]
    + segment(0xE0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
    + segment(0xDB, [0] + Array(repeating: 16, count: 64))
    + segment(0xC0, [8, 0, 8, 0, 8, 1, 1, 0x11, 0])
    + segment(0xC4, [0x00] + lengths(1) + [0])
    + segment(0xC4, [0x10] + lengths(1) + [0])
    + segment(0xDA, [1, 1, 0, 0, 63, 0])
    // Both tables know one code, the bit 0: no difference of DC, end of block. The rest is padding of ones.
    + [0x3F, 0xFF, 0xD9]

  private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    let length = content.count + 2
    return [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content
  }

  /// Numbers of Huffman codes of 1 to 16 bits: so many of one bit.
  private static func lengths(_ ones: UInt8) -> [UInt8] {
    [ones] + Array(repeating: 0, count: 15)
  }
}
