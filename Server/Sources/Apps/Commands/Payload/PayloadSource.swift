import APNs
import ArgumentParsing
import PabalPrimitives

/// The payload that the verbs of `pabal payload` work on, as it was read.
struct PayloadSource {
  static let file = OperandDefinition("FILE", "the payload, one JSON object; - for standard input")
  static let pushType = SendOptions.pushType

  /// A file longer than this is a wrong file; APNs' own limit is far below.
  private static let fileBytes = 1 << 20

  /// How messages call it.
  let name: String
  /// `nil` for standard input.
  let path: String?
  let bytes: [UInt8]
  /// What `--push-type` says.
  let wanted: APNsPushType?

  init(_ command: ParsedCommand) throws(UsageError) {
    let word = command.operands[0]
    bytes = try InputFile.contents(of: word, what: "The payload", limit: Self.fileBytes)
    path = word == "-" ? nil : word
    name = word == "-" ? "stdin" : word
    wanted = try command.value(Self.pushType).map(Self.type)
  }

  static func type(_ name: String) throws(UsageError) -> APNsPushType {
    let type = APNsPushType(rawValue: name)
    guard APNsPushType.known.contains(type) else {
      let names = APNsPushType.known.map(\.rawValue)
      let nearest = NearestWord.find(name, among: names).map { " Did you mean \($0)?" } ?? ""
      throw UsageError("Unknown push type '\(name)'.\(nearest) Known are \(names.joined(separator: ", ")).")
    }
    return type
  }

  /// The object inside, and the push type that it is for.
  ///
  /// - Throws: the first thing that is wrong, with its place; `pabal payload lint` lists all of them.
  func checked() throws(UsageError) -> (root: JSONSlice, pushType: APNsPushType) {
    let report = PayloadReport(self)
    if let problem = report.problems.first(where: { $0.severity == .error }) {
      throw UsageError(problem.line(in: name), code: problem.code)
    }
    guard let root = report.root, let pushType = report.pushType else {
      throw UsageError("\(name): this is no payload. `pabal payload lint` says why.")
    }
    return (root, pushType)
  }
}
