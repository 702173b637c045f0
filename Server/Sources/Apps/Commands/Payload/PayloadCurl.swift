import APNs
import ArgumentParsing
import EventLoop
import PabalModel
import PabalPrimitives

/// `pabal payload curl`: the same push as a command for curl, without any secret in it.
enum PayloadCurl {
  private static let device = OptionDefinition("device", .value("TOKEN"), "device token")

  static let definition = CommandDefinition(
    "curl", summary: "print a push as a curl command",
    examples: [
      CommandExample(
        "pabal payload curl push.json --p8 AuthKey_ABC123DEFG.p8 --team TEAM123456 --topic com.example.app \\\n"
          + "    --environment sandbox --device 740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad",
        "to send by hand, or to show somebody")
    ],
    options: [
      SendOptions.p8, SendOptions.keyID, SendOptions.team, SendOptions.p12, SendOptions.cert, SendOptions.key,
      SendOptions.passphraseFile, SendOptions.topic, device, SendOptions.environment,
      SendOptions.endpoint, SendOptions.ca, PayloadSource.pushType, SendOptions.priority, SendOptions.expiration,
      SendOptions.collapseID, SendOptions.apnsID,
    ], operands: [PayloadSource.file],
    notes: [
      """
      Neither a provider token nor a passphrase is printed: the command calls `pabal jwt make`, or reads
      --passphrase-file, when it runs. It names the device token and the files, so treat it as you treat them.
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let source = try PayloadSource(command)
    let (_, pushType) = try source.checked()
    let head = try PushHead.read(command, pushType: pushType, clock: context.clock)
    let endpoint = try SendEndpoint.place(command)
    let token: DeviceToken
    do {
      token = try DeviceToken(parsing: try command.required(device))
    } catch let error as DeviceTokenError {
      throw UsageError("--device: \(error.message)", code: error.code)
    }
    var words = ["curl -i --http2 --no-progress-meter"]
    if let ca = command.value(SendOptions.ca) { words.append("--cacert \(Self.quoted(ca))") }
    words += try credentialWords(command)
    words += head.headers.map { "-H \(Self.quoted("\($0.name): \($0.value)"))" }
    if let id = command.value(SendOptions.apnsID) {
      words.append("-H \(Self.quoted("apns-id: \(try APNsID(checking: id))"))")
    }
    words.append("-H 'content-type: application/json'")
    let body = source.path.map { "@\($0)" } ?? String(decoding: source.bytes, as: UTF8.self)
    words.append("--data-binary \(Self.quoted(body))")
    let place = endpoint.port == 443 ? String(endpoint.description.dropLast(4)) : endpoint.description
    words.append(Self.quoted("https://\(place)/3/device/\(token.hex)"))
    context.output.line(words.joined(separator: " \\\n  "))
    return .done
  }

  private static func credentialWords(_ command: ParsedCommand) throws(UsageError) -> [String] {
    switch try SendCredential.kind(command) {
    case .signingKey: ["-H \"authorization: bearer $(\(try tokenCommand(command)))\""]
    case .bundle(let path): ["--cert-type P12 --cert \(quotedCertificate(path))"] + (try passphraseWords(command))
    case .certificate(let path, let key):
      ["--cert \(quotedCertificate(path))"] + (key.map { ["--key \(quoted($0))"] } ?? [])
        + (try passphraseWords(command))
    }
  }

  private static func passphraseWords(_ command: ParsedCommand) throws(UsageError) -> [String] {
    guard let path = command.value(SendOptions.passphraseFile) else { return [] }
    guard path != "-" else {
      throw UsageError("--passphrase-file must be a file here: it is read when the printed command runs.")
    }
    return ["--pass \"$(cat \(quoted(path)))\""]
  }

  /// curl takes what follows a colon for a passphrase.
  private static func quotedCertificate(_ path: String) -> String {
    quoted(path.map { $0 == ":" || $0 == "\\" ? "\\\($0)" : String($0) }.joined())
  }

  private static func tokenCommand(_ command: ParsedCommand) throws(UsageError) -> String {
    var words = ["pabal jwt make --p8 \(quoted(try command.required(SendOptions.p8)))"]
    if let id = command.value(SendOptions.keyID) { words.append("--key-id \(quoted(id))") }
    words.append("--team \(quoted(try command.required(SendOptions.team)))")
    return words.joined(separator: " ")
  }

  /// In single quotes for a POSIX shell; plain words stay as they are.
  static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: Array("-_./:@%+=,".utf8).contains(byte)
      }
    }
    guard !isPlain || text.isEmpty else { return text }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
