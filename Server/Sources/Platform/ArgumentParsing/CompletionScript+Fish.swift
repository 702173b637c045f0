extension CompletionScript {
  var fish: String {
    let verbs = stops.dropFirst().map { Self.fishQuoted($0.call) }.joined(separator: " ")
    return """
      # Completion of \(root.name) for fish. Made by `\(root.name) completion fish`; load it with
      #   \(root.name) completion fish | source
      function __\(root.name)_at
        set -l at \(root.name)
        for word in (commandline -opc)[2..-1]
          if contains -- "$at $word" \(verbs)
            set at "$at $word"
          end
        end
        test "$at" = "$argv[1]"
      end
      complete -c \(root.name) -f
      \(stops.map(lines).joined(separator: "\n"))

      """
  }

  private func lines(_ stop: Stop) -> String {
    let start = "complete -c \(root.name) -n \(Self.fishQuoted("__\(root.name)_at '\(stop.call)'"))"
    let words = stop.offers.filter { !$0.word.hasPrefix("--") }.map {
      "\(start) -a \(Self.fishQuoted($0.word)) -d \(Self.fishQuoted($0.help))"
    }
    let flags = stop.options.map { option in
      let short = option.short.map { " -s \($0)" } ?? ""
      return "\(start)\(short) -l \(option.name)\(Self.fishValue(option)) -d \(Self.fishQuoted(option.help))"
    }
    return (words + flags + ["\(start) -l help -d 'what it does and takes'"]).joined(separator: "\n")
  }

  private static func fishValue(_ option: OptionDefinition) -> String {
    switch value(of: option) {
    case nil: ""
    case .files: " -r -F"
    case .free: " -x"
    case .words(let words): " -x -a \(fishQuoted(words.joined(separator: " ")))"
    }
  }

  private static func fishQuoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
  }
}
