extension CompletionScript {
  var zsh: String {
    let verbs = stops.dropFirst().map(\.call)
    let files = flagCalls { $0 == .files }.flatMap(\.calls)
    let others = flagCalls { $0 != .files }
    return """
      #compdef \(root.name)
      # Completion of \(root.name) for zsh. Made by `\(root.name) completion zsh`; load it with
      #   eval "$(\(root.name) completion zsh)"
      _\(root.name)() {
        local at='\(root.name)' index
        local -a offers
        for ((index = 2; index < CURRENT; index++)); do
          case "$at ${words[index]}" in
            \(Self.pattern(verbs)))
              at="$at ${words[index]}" ;;
          esac
        done
        case "$at ${words[CURRENT - 1]}" in
          \(Self.pattern(files)))
            _files
            return ;;
      \(others.map(Self.value).joined(separator: "\n"))
        esac
        case "$at" in
      \(stops.map(Self.offer).joined(separator: "\n"))
        esac
        _describe -t commands '\(root.name)' offers
      }
      if [ "$funcstack[1]" = '_\(root.name)' ]; then
        _\(root.name) "$@"
      else
        compdef _\(root.name) \(root.name)
      fi

      """
  }

  private static func value(_ flag: (calls: [String], value: Value)) -> String {
    let action =
      switch flag.value {
      case .words(let words): "compadd -- " + words.map(quoted).joined(separator: " ")
      case .free(let word): "_message \(quoted(word))"
      case .files: "_files"
      }
    return "    \(pattern(flag.calls)))\n      \(action)\n      return ;;"
  }

  private static func offer(_ stop: Stop) -> String {
    // A colon separates the word from its description.
    let lines = stop.offers.map { offer in
      let word = offer.word.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:")
      return "        " + quoted("\(word):\(offer.help)")
    }
    return "    \(quoted(stop.call)))\n      offers=(\n\(lines.joined(separator: "\n"))\n      ) ;;"
  }
}
