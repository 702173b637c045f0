import ArgumentParsing
import PabalPrimitives
import Simulator

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A list of device tokens, one a line, as `pabal send --devices-file` reads it.
enum TokenFile {
  /// Devices asked for at once; the stand-in answers nobody else meanwhile.
  private static let page = 10_000

  /// Writes the tokens of all devices, in the order they were made. The file is this user's alone.
  static func write(_ core: Locked<StandInCore>, to path: String) throws(UsageError) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    var cursor: Int? = 0
    while let start = cursor {
      let (devices, next) = core.withLock { $0.devices(from: start, limit: page) }
      var bytes: [UInt8] = []
      for device in devices { bytes += Hex.digits(of: device.token) + [UInt8(ascii: "\n")] }
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw failure(path) }
        rest = rest.dropFirst(count)
      }
      cursor = next
    }
  }

  private static func failure(_ path: String) -> UsageError {
    UsageError("\(path) cannot be written: \(String(cString: strerror(errno)).lowercased()). Name another file.")
  }
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}
