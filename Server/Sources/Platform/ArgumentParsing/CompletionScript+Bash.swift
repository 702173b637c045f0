extension CompletionScript {
  /// Works in the bash 3.2 of macOS; names of files are left to the shell's own completion.
  var bash: String {
    let verbs = stops.dropFirst().map(\.call)
    let choices = flagCalls { if case .words = $0 { true } else { false } }
    let others = flagCalls { if case .words = $0 { false } else { true } }.flatMap(\.calls)
    return """
      # Completion of \(root.name) for bash. Made by `\(root.name) completion bash`; load it with
      #   eval "$(\(root.name) completion bash)"
      _\(root.name)() {
        local at='\(root.name)' words='' index
        COMPREPLY=()
        for ((index = 1; index < COMP_CWORD; index++)); do
          case "$at ${COMP_WORDS[index]}" in
            \(Self.pattern(verbs)))
              at="$at ${COMP_WORDS[index]}" ;;
          esac
        done
        case "$at ${COMP_WORDS[COMP_CWORD - 1]}" in
      \(choices.map(Self.choice).joined(separator: "\n"))
          \(Self.pattern(others)))
            return ;;
          *)
            case "$at" in
      \(stops.map(Self.offer).joined(separator: "\n"))
            esac ;;
        esac
        COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
      }
      complete -o default -F _\(root.name) \(root.name)

      """
  }

  private static func choice(_ flag: (calls: [String], value: Value)) -> String {
    guard case .words(let words) = flag.value else { return "" }
    return "    \(pattern(flag.calls)))\n      words=\(quoted(words.joined(separator: " "))) ;;"
  }

  private static func offer(_ stop: Stop) -> String {
    "        \(quoted(stop.call)))\n          words=\(quoted(stop.offers.map(\.word).joined(separator: " "))) ;;"
  }
}
