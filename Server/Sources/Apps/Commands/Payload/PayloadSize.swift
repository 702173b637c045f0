import APNs
import ArgumentParsing
import PabalPrimitives

/// `pabal payload size`: how much of Apple's limit a payload takes, and which members take it.
enum PayloadSize {
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "as an object")

  static let definition = CommandDefinition(
    "size", summary: "count the bytes of a payload, member by member",
    examples: [CommandExample("pabal payload size push.json", "what to shorten first")],
    options: [PayloadSource.pushType, json], operands: [PayloadSource.file],
    notes: [
      """
      What is counted is what is sent: the text as it stands, a final newline left out. APNs takes 4096 bytes, for voip
      5120. A Hangul syllable has 3 bytes as itself and 6 as \\uXXXX.
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let source = try PayloadSource(command)
    let report = PayloadReport(source)
    guard let root = report.root else {
      throw UsageError(report.problems.first?.line(in: source.name) ?? "\(source.name) is no JSON object.")
    }
    let compact = CompactJSON.text(of: root).count
    if command.isSet(json) {
      let object: JSONValue = [
        "object": "size", "bytes": JSONValue(report.bytes), "limit": JSONValue(report.limit),
        "left": JSONValue(report.limit - report.bytes), "compactBytes": JSONValue(compact),
        "members": .array(members(root).map { ["path": .string($0.path), "bytes": JSONValue($0.bytes)] }),
      ]
      try context.show(object, command, json)
    } else {
      show(report, compact: compact, members(root), context)
    }
    return report.bytes <= report.limit ? .done : .usage
  }

  private static func show(
    _ report: PayloadReport, compact: Int, _ members: [(path: String, bytes: Int)], _ context: CommandContext
  ) {
    var table = TextTable(["MEMBER", "BYTES"])
    for member in members { table.add([member.path, String(member.bytes)]) }
    table.add(["(whole)", String(report.bytes)])
    context.output.text(table.render(for: context.outputTerminal))
    let left = report.limit - report.bytes
    let type = report.pushType?.rawValue ?? "alert"
    context.say(
      left >= 0
        ? context.text(
          en: "\(report.bytes) of \(report.limit) bytes (\(type)), \(left) left",
          ko: "\(report.limit)바이트(\(type)) 중 \(report.bytes)바이트, \(left)바이트 남음")
        : context.text(
          en: "\(report.bytes) of \(report.limit) bytes (\(type)): \(-left) too many",
          ko: "\(report.limit)바이트(\(type)) 중 \(report.bytes)바이트: \(-left)바이트 초과"))
    guard compact < report.bytes else { return }
    context.say(
      context.text(
        en: "Without blanks and \\u escapes it has \(compact) bytes.",
        ko: "공백과 \\u 표기를 빼면 \(compact)바이트입니다."))
  }

  /// Members of the root and of `aps`, with their names, in the order of the text.
  private static func members(_ root: JSONSlice) -> [(path: String, bytes: Int)] {
    root.members.flatMap { member in
      let inner = member.name == "aps" ? member.value.members.map { ("aps.\($0.name)", size($0)) } : []
      return [(member.name, size(member))] + inner
    }
  }

  /// Name, quotes and colon counted.
  private static func size(_ member: (name: String, value: JSONSlice)) -> Int {
    JSONValue.string(member.name).encoded.count + 1 + member.value.bytes.count
  }
}

/// A JSON value in the fewest bytes that mean the same.
enum CompactJSON {
  static func text(of value: JSONSlice) -> [UInt8] {
    written(value).encoded
  }

  private static func written(_ value: JSONSlice) -> JSONValue {
    switch value.kind {
    case .object: .object(value.members.map { JSONMember($0.name, written($0.value)) })
    case .array: .array(value.elements.map(written))
    case .string: .string(value.string ?? "")
    // Numbers keep their spelling: 1.0 and 1 are not the same to everybody.
    case .number, .bool, .null: JSONValue(value)
    }
  }
}
