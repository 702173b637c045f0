import ArgumentParsing

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The process around a command line.
package enum CommandProcess {
  /// Runs the command line of this process and ends it. Call it on the first thread, before there are others.
  package static func run() -> Never {
    let signals = SignalWatch()
    let context = CommandContext.system(environment: environment(), signals: signals)
    Task.detached {
      let code = await CommandLineTool.run(Array(CommandLine.arguments.dropFirst()), context)
      context.output.flush()
      exit(code.rawValue)
    }
    signals.takeForEver()
  }

  /// Ends the process without finishing anything: the second Ctrl-C.
  static func endAtOnce() {
    _exit(ExitCode.interrupted.rawValue)
  }

  private static func environment() -> [String: String] {
    var variables: [String: String] = [:]
    var cursor = environ
    while let entry = cursor.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      cursor += 1
    }
    return variables
  }
}
