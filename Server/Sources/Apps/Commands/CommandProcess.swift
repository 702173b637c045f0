import ArgumentParsing
import Cryptography
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The process around a command line.
package enum CommandProcess {
  /// Runs the command line of this process and ends it. Call it on the first thread, before there are others.
  package static func run() -> Never {
    OpenSSLProcess.outliveThreads()
    let signals = SignalWatch()
    let context = CommandContext.system(environment: environment(), signals: signals)
    Task.detached {
      let code = await obey(context)
      context.output.flush()
      exit(code.rawValue)
    }
    signals.takeForEver()
  }

  private static func obey(_ context: CommandContext) async -> ExitCode {
    let words: [String]
    do throws(UsageError) {
      words = try Self.words()
    } catch {
      context.say("pabal: \(error.message)")
      return .usage
    }
    return await CommandLineTool.run(words, context)
  }

  /// The words after the program's name.
  ///
  /// - Throws: `usage` for one that is not UTF-8: decoded, it would be another word, and be sent.
  private static func words() throws(UsageError) -> [String] {
    var words: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let bytes = CommandLine.unsafeArgv[index], let word = String(validatingCString: bytes) else {
        throw UsageError("Word \(index) of the command line is not UTF-8. Set the terminal to UTF-8, or give a file.")
      }
      words.append(word)
    }
    return words
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
