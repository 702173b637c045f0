import ArgumentParsing
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Ends a server with the program that started it: a parent that is killed cannot say goodbye, but its pipe closes.
enum InputEnd {
  static let option = OptionDefinition("exit-with-stdin", .flag, "stop when standard input ends")

  /// Stops at the end of the input when that was asked for, or when a machine (`--json`) holds the other end of a pipe
  /// or socket. Otherwise the end says nothing: `&` and services start us with an input that is at its end already.
  static func watch(_ command: ParsedCommand, json: OptionDefinition, _ stop: StopRequest) {
    guard command.isSet(option) || (command.isSet(json) && isPipe) else { return }
    OwnThread.start {
      awaitEnd(); stop.request()
    }
  }

  private static var isPipe: Bool {
    var status = stat()
    let kind = fstat(0, &status) == 0 ? status.st_mode & S_IFMT : 0
    return kind == S_IFIFO || kind == S_IFSOCK
  }

  private static func awaitEnd() {
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(0, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
    }
  }
}
