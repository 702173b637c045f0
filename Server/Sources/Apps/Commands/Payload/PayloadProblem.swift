import APNs
import PabalPrimitives

/// One thing that is wrong or odd about a payload, where it stands, and what to do.
struct PayloadProblem: Sendable {
  let severity: APNsFinding.Severity
  let code: String
  let position: TextPosition
  /// E.g. `aps.badge`; empty for the text as a whole.
  let path: String
  /// What is wrong and what to write instead, without a full stop.
  let message: String

  /// `push.json:3:14: error: aps.badge: the badge must be …`, as compilers say it, so that editors find the place.
  func line(in name: String) -> String {
    let subject = path.isEmpty ? "" : "\(path): "
    return "\(name):\(position.line):\(position.column): \(severity.rawValue): \(subject)\(message)"
  }

  var json: JSONValue {
    [
      "severity": .string(severity.rawValue), "code": .string(code), "line": JSONValue(position.line),
      "column": JSONValue(position.column), "path": .string(path), "message": .string(message),
    ]
  }
}

/// Finds the members that findings speak of.
enum PayloadPlace {
  /// Offset of the value at `path`, or of its nearest ancestor that is there.
  static func offset(of path: String, in root: JSONSlice) -> Int {
    var value = root
    var rest = path[...]
    while !rest.isEmpty {
      // A member's own name may have dots: the longest that fits is meant.
      let fitting = value.members.filter { rest == $0.name || rest.hasPrefix($0.name + ".") }
      guard let member = fitting.max(by: { $0.name.count < $1.name.count }) else { break }
      rest = rest.dropFirst(member.name.count).drop { $0 == "." }
      value = member.value
    }
    return value.offset
  }
}
