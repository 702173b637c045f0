import CMicrohttpd

/// Sees a folded header by where the library put it.
///
/// Measured on 0.9.75: a continuation line is appended to the header's *name*, in a copy elsewhere in the pool, so
/// `Content-Lengt: 5⏎ h` is obeyed as `Content-Length: 5`. An honest header lies in one line of the buffer: name, the
/// colon (now NUL), blanks, value. Later versions parse by RFC 9112; there the check is off, and the corpus test
/// decides.
enum HeaderLayout {
  /// Whether this library needs the check: everything before 1.0.
  static var isNeeded: Bool {
    guard let version = MHD_get_version() else { return true }
    return String(cString: version).hasPrefix("0.")
  }

  /// - Parameter reach: The pool's size; a value further behind its name is not in its line.
  static func isOneLine(name: UnsafePointer<CChar>, nameBytes: Int, value: UnsafePointer<CChar>, reach: Int) -> Bool {
    let gapStart = name.advanced(by: nameBytes + 1)
    let gap = UnsafeRawPointer(value) - UnsafeRawPointer(gapStart)
    guard gap >= 0, gap <= reach, name[nameBytes] == 0 else { return false }
    for offset in 0..<gap where gapStart[offset] != 0x20 && gapStart[offset] != 0x09 { return false }
    return true
  }
}
