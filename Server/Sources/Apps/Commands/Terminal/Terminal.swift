#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// What a stream can show.
package struct Terminal: Sendable {
  package let isTerminal: Bool
  /// In cells; 80 when it cannot be known.
  package let width: Int
  package let hasColor: Bool
  package let hasUnicode: Bool
  /// A line can be taken back and written anew.
  package let canRedraw: Bool

  package init(isTerminal: Bool, width: Int = 80, hasColor: Bool = false, hasUnicode: Bool = true) {
    self.isTerminal = isTerminal
    self.width = width
    self.hasColor = hasColor
    self.hasUnicode = hasUnicode
    canRedraw = isTerminal
  }

  /// Looks at the stream and at `NO_COLOR`, `CLICOLOR_FORCE`, `TERM` and the locale.
  package init(file: Int32, environment: [String: String]) {
    isTerminal = isatty(file) == 1
    var size = winsize()
    let isKnown = isTerminal && ioctl(file, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    width = isKnown ? Int(size.ws_col) : 80
    let isDumb = environment["TERM"] == "dumb"
    canRedraw = isTerminal && !isDumb
    let isRefused = !(environment["NO_COLOR"] ?? "").isEmpty || isDumb
    let isForced = environment["CLICOLOR_FORCE"].map { !$0.isEmpty && $0 != "0" } ?? false
    hasColor = isForced || (isTerminal && !isRefused)
    let locale = CommandLanguage.locale(environment).uppercased()
    hasUnicode = locale.contains("UTF-8") || locale.contains("UTF8")
  }

  private init(_ terminal: Terminal, hasColor: Bool) {
    self.hasColor = hasColor
    isTerminal = terminal.isTerminal
    width = terminal.width
    hasUnicode = terminal.hasUnicode
    canRedraw = terminal.canRedraw
  }

  /// The same without colour, whatever the environment says.
  package var withoutColor: Terminal { Terminal(self, hasColor: false) }

  /// A state's mark: never the only carrier of what it says.
  package func mark(_ mark: Mark) -> String {
    let symbol = hasUnicode ? mark.symbol : mark.plain
    return hasColor ? "\u{1B}[\(mark.color)m\(symbol)\u{1B}[0m" : symbol
  }

  package enum Mark: Sendable {
    case good, attention, bad

    var symbol: String {
      switch self {
      case .good: "✓"
      case .attention: "!"
      case .bad: "✗"
      }
    }

    var plain: String {
      switch self {
      case .good: "+"
      case .attention: "!"
      case .bad: "x"
      }
    }

    var color: Int {
      switch self {
      case .good: 32
      case .attention: 33
      case .bad: 31
      }
    }
  }
}

/// The language that people read; objects of `--json` are never translated.
package enum CommandLanguage: String, Sendable, CaseIterable {
  case en, ko

  /// `PABAL_LANG`, else the locale of messages, else English.
  package init(environment: [String: String]) {
    let wanted = environment["PABAL_LANG"] ?? Self.locale(environment)
    self = wanted.lowercased().hasPrefix("ko") ? .ko : .en
  }

  static func locale(_ environment: [String: String]) -> String {
    ["LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
  }
}
