import TLS
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A file that the secrets of TLS sessions are added to, as `SSLKEYLOGFILE` asks for. Mode 0600.
final class KeyLogFile: Sendable {
  private let file: Int32

  init(path: String) throws(StandInError) {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StandInError(
        .configuration,
        "The key log \(path) cannot be written (\(String(cString: strerror(errno)))); name another file.")
    }
  }

  deinit { close(file) }

  /// Each line in one write, so that several processes may share the file. A line that cannot be written is lost:
  /// nobody's push depends on it.
  var log: TLSKeyLog {
    { line in
      let bytes = Array("\(line)\n".utf8)
      _ = write(self.file, bytes, bytes.count)
    }
  }
}
