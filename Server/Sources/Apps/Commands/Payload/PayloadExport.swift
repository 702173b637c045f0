import APNs
import ArgumentParsing
import PabalPrimitives

/// `pabal payload export --simctl`: a payload as the iOS Simulator takes it.
enum PayloadExport {
  private static let simctl = OptionDefinition("simctl", .value("BUNDLE"), "for `xcrun simctl push` of this app")
  /// Names the app inside the file (Xcode, `xcrun simctl push`).
  private static let member = "Simulator Target Bundle"

  static let definition = CommandDefinition(
    "export", summary: "write a payload for the iOS Simulator",
    examples: [
      CommandExample(
        "pabal payload export push.json --simctl com.example.app > push.apns",
        "then `xcrun simctl push booted push.apns`, or drag the file onto the Simulator")
    ],
    options: [simctl], operands: [PayloadSource.file],
    notes: ["The Simulator takes alert pushes of at most 4096 bytes. Everything but the app's name stays as it is."])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let bundle = try command.required(simctl)
    guard !bundle.isEmpty, bundle.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw UsageError("--simctl must be the app's bundle id, such as com.example.app; found '\(bundle)'.")
    }
    let (root, pushType) = try PayloadSource(command).checked()
    guard pushType == .alert else {
      throw UsageError(
        "The Simulator shows alert pushes only; this one is \(pushType.rawValue). Add an alert, or try it on "
          + "`pabal sim serve`.")
    }
    let members = root.members.filter { $0.name != member }.map { JSONMember($0.name, JSONValue($0.value)) }
    let object = JSONValue.object([JSONMember(member, .string(bundle))] + members)
    let text = object.encoded
    guard text.count <= APNsLimits.payloadBytes else {
      throw UsageError(
        "With the app's name the file has \(text.count) bytes; the Simulator takes \(APNsLimits.payloadBytes). "
          + "Shorten the payload.", code: "payload_too_large")
    }
    context.output.append(text + [UInt8(ascii: "\n")])
    context.output.flush()
    context.say(
      context.text(
        en: "On a Mac: xcrun simctl push booted FILE.apns", ko: "Mac에서: xcrun simctl push booted FILE.apns"))
    return .done
  }
}
