import APNs
import ArgumentParsing
import PabalPrimitives

/// Everything there is to say about a payload before it is sent.
struct PayloadReport {
  let problems: [PayloadProblem]
  /// `nil` when the text is not one JSON object.
  let root: JSONSlice?
  /// As given, or as the payload asks for; `nil` when neither tells.
  let pushType: APNsPushType?
  /// What would be sent: the text without a final newline.
  let bytes: Int

  var limit: Int { (pushType ?? .alert).maximumPayloadBytes }
  var errors: Int { problems.count { $0.severity == .error } }
  var warnings: Int { problems.count { $0.severity == .warning } }

  init(_ source: PayloadSource) {
    let wire = APNsPayload.withoutFinalNewline(source.bytes)
    bytes = wire.count
    do throws(JSONError) {
      let root = try JSONSlice(parsing: source.bytes)
      var report = Collector(source: source.bytes, root: root)
      pushType = report.pushType(wanted: source.wanted)
      report.inspect(pushType ?? .alert, bytes: wire.count)
      self.root = root.kind == .object ? root : nil
      problems = report.sorted
    } catch {
      pushType = source.wanted
      root = nil
      problems = [Self.problem(error, in: source.bytes)]
    }
  }

  private static func problem(_ error: JSONError, in source: [UInt8]) -> PayloadProblem {
    let isBlank = source.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    // Outside of a string any byte of another encoding is foreign; the encoding is what is to be mended.
    let isForeign = error.offset < source.count && source[error.offset] >= 0x80
    let isUTF8 = !isForeign || String(validating: source, as: UTF8.self) != nil
    let advice = isUTF8 ? error.advice : JSONError.encodingAdvice
    return PayloadProblem(
      severity: .error, code: "payload_invalid", position: TextPosition(of: error.offset, in: source), path: "",
      message: isBlank ? "the payload is empty; write one JSON object with the member aps" : advice)
  }
}

/// Gathers problems and knows where they stand.
private struct Collector {
  let source: [UInt8]
  let root: JSONSlice
  private var problems: [PayloadProblem] = []

  init(source: [UInt8], root: JSONSlice) {
    self.source = source
    self.root = root
  }

  /// Errors first, each kind in the order of the text.
  var sorted: [PayloadProblem] {
    let order = { (problem: PayloadProblem) in
      (problem.severity == .error ? 0 : 1, problem.position.line, problem.position.column)
    }
    return problems.sorted { order($0) < order($1) }
  }

  mutating func pushType(wanted: APNsPushType?) -> APNsPushType? {
    guard root.kind == .object else { return wanted }
    if let type = wanted ?? APNsValidity.pushType(inferredFrom: root) { return type }
    if root["aps"]?.kind == .object {
      add(.error, "aps", "the payload shows nothing and wakes nobody; add an alert, or name its type with --push-type")
    }
    return nil
  }

  mutating func inspect(_ pushType: APNsPushType, bytes: Int) {
    guard root.kind == .object else {
      return add(.error, "", "the payload must be one JSON object, found \(root.kind); write {\"aps\":{…}}")
    }
    if let aps = root["aps"], aps.kind != .object {
      return add(.error, "aps", "it must be an object, found \(aps.kind)")
    }
    for finding in APNsValidity.findings(in: root, as: pushType) {
      add(finding.severity, finding.path, finding.message)
    }
    for slip in PayloadSlips.find(in: root) { add(.warning, slip.path, slip.message) }
    if bytes > pushType.maximumPayloadBytes {
      add(
        .error, "",
        "\(bytes) bytes; a push of type \(pushType.rawValue) may have \(pushType.maximumPayloadBytes), so "
          + "\(bytes - pushType.maximumPayloadBytes) must go; `pabal payload size` shows which members are long",
        code: "payload_too_large")
    }
  }

  /// One member is spoken of once: the first to do so knows best.
  private mutating func add(
    _ severity: APNsFinding.Severity, _ path: String, _ message: String, code: String = "payload_invalid"
  ) {
    guard path.isEmpty || !problems.contains(where: { $0.path == path && $0.severity == severity }) else { return }
    let offset = path.isEmpty ? root.offset : PayloadPlace.offset(of: path, in: root)
    problems.append(
      PayloadProblem(
        severity: severity, code: code, position: TextPosition(of: offset, in: source), path: path, message: message))
  }
}

extension JSONError {
  fileprivate static let encodingAdvice = "these bytes are not UTF-8; save the file as UTF-8"

  /// What is wrong and how to mend it; the place is said beside it.
  fileprivate var advice: String {
    switch kind {
    case .unexpectedCharacter:
      "JSON does not allow this character here; look for a missing or surplus comma, quote or colon before it"
    case .unexpectedEnd: "the text ends too early; close every string, [ and {"
    case .trailingBytes: "something follows the JSON value; remove it"
    case .byteOrderMark: "the text starts with a byte order mark; save the file as UTF-8 without one"
    case .invalidUTF8: Self.encodingAdvice
    case .loneSurrogate: "half of a surrogate pair; write the character itself"
    case .controlCharacter: "a control character inside a string; write \\n for a line break, \\t for a tab"
    case .invalidEscape: "JSON does not know this escape; a backslash itself is written \\\\"
    case .invalidNumber: "JSON does not know this form of number; write 1 or 0.5, without + or leading zeros"
    case .duplicateKey: "the same key twice in one object; keep one"
    case .tooDeep: "too many nested objects and arrays; APNs needs three levels"
    }
  }
}
