/// Which of the texts at hand a device reads: exact tag, then shorter ones (RFC 4647 section 3.4, "Lookup"), then the
/// next preference, then the default.
enum LocaleChoice {
  static func choose(from available: [String], preferring preferences: [String?], fallback: String) -> String {
    for preference in preferences.compactMap({ $0 }) {
      // Systems write ko_KR and ko_KR@calendar=…; a tag has hyphens.
      let tag = preference.prefix { $0 != "@" && $0 != "." }.map { $0 == "_" ? "-" : String($0) }.joined()
      var parts = tag.lowercased().split(separator: "-").map(String.init)
      while !parts.isEmpty {
        let candidate = parts.joined(separator: "-")
        if let match = available.first(where: { $0.lowercased() == candidate }) { return match }
        parts.removeLast()
        if parts.last?.utf8.count == 1 { parts.removeLast() }
      }
    }
    return fallback
  }
}
