/// An MP4 file (ISO/IEC 14496-12) of a file type box, a movie header of one second and an empty media box.
enum SampleMP4 {
  static let bytes: [UInt8] =
    box("ftyp", Array("isom".utf8) + [0, 0, 2, 0] + Array("isomiso2mp41".utf8)) + box("moov", box("mvhd", movieHeader))
    + box("mdat", [])

  private static let movieHeader: [UInt8] = {
    var header: [UInt8] = word(0)  // version and flags
    header += word(0) + word(0)  // made and changed
    header += word(1000) + word(1000)  // time scale, duration
    header += word(0x0001_0000) + [0x01, 0x00, 0, 0] + word(0) + word(0)  // rate, volume, reserved
    header += [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000].flatMap(word)  // unity matrix
    header += Array(repeating: 0, count: 24) + word(2)  // predefined, next track
    return header
  }()

  private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
    word(UInt32(content.count + 8)) + Array(name.utf8) + content
  }

  private static func word(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
