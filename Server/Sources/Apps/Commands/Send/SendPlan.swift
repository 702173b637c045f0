import APNs
import ArgumentParsing
import Cryptography
import EventLoop
import PabalModel
import PabalPrimitives
import TLS

/// Everything that a run needs, checked before the first byte leaves: from here on only devices and network can fail.
struct SendPlan: Sendable {
  enum Devices: Sendable {
    case listed([DeviceToken])
    /// Its lines were read once and all hold tokens.
    case file(InputFile, count: Int)
  }

  let head: APNsHead
  let payload: APNsPayload
  let devices: Devices
  let apnsID: APNsID?
  let credential: APNsCredential
  let endpoint: Endpoint
  let tls: TLSClientContext
  let connections: Int
  let concurrency: Int
  let repeats: Int
  let repeatsUnknown: Bool
  let timeout: Duration?
  let requestTimeout: Duration
  let isDryRun: Bool
  let warnings: [String]

  /// - Throws: `UsageError` or the errors of key and payload, all of them the user's to mend.
  init(_ command: ParsedCommand, _ context: CommandContext) throws {
    let clock = context.clock
    let (content, findings) = try SendContent.read(command)
    let (credential, keyWarning) = try SendCredential.read(command, environment: context.environment)
    self.credential = credential
    payload = content.payload
    head = try APNsHead(
      topic: Topic(rawValue: try command.required(SendOptions.topic)), pushType: content.pushType,
      priority: try Self.priority(command), expiration: try Self.expiration(command, clock),
      collapseID: command.value(SendOptions.collapseID))
    (endpoint, tls) = try SendEndpoint.read(command)
    connections = try command.integer(SendOptions.connections, in: 1...64) ?? 1
    concurrency = try command.integer(SendOptions.concurrency, in: 1...64_000) ?? 1000
    repeats = try command.integer(SendOptions.retry, in: 0...100) ?? 3
    repeatsUnknown = command.isSet(SendOptions.retryUnknown)
    timeout = try command.duration(SendOptions.timeout)
    requestTimeout = try command.duration(SendOptions.requestTimeout) ?? .seconds(30)
    isDryRun = command.isSet(SendOptions.dryRun)
    warnings = [keyWarning].compactMap { $0 } + findings
    devices = try SendDevices.read(command)
    apnsID = try Self.apnsID(command, devices)
  }

  private static func priority(_ command: ParsedCommand) throws -> APNsPriority? {
    try command.integer(SendOptions.priority, in: 1...10).map(APNsPriority.init(rawValue:))
  }

  private static func expiration(_ command: ParsedCommand, _ clock: Clock) throws -> APNsExpiration? {
    guard let text = command.value(SendOptions.expiration) else { return nil }
    if text.hasPrefix("+"), let duration = DurationText.parse(String(text.dropFirst())) {
      return APNsExpiration(timeToLive: duration, now: clock.wall())
    }
    guard let seconds = Int64(text), !text.hasPrefix("+") else {
      throw UsageError("--expiration must be 0, UNIX seconds, or +DURATION such as +1h; found '\(text)'.")
    }
    return try APNsExpiration(unixSeconds: seconds)
  }

  private static func apnsID(_ command: ParsedCommand, _ devices: Devices) throws -> APNsID? {
    guard let text = command.value(SendOptions.apnsID) else { return nil }
    guard case .listed(let tokens) = devices, tokens.count == 1 else {
      throw UsageError("--apns-id goes with exactly one --device: two pushes must not have the same id.")
    }
    return try APNsID(checking: text)
  }
}

/// `--device` and `--devices-file`.
enum SendDevices {
  /// Bad lines shown at most.
  private static let shownLines = 10

  static func read(_ command: ParsedCommand) throws(UsageError) -> SendPlan.Devices {
    let listed = command.list(SendOptions.device)
    guard let path = command.value(SendOptions.devicesFile) else {
      guard !listed.isEmpty else {
        throw UsageError("Whom to send to is missing. Give --device TOKEN, or --devices-file FILE with one a line.")
      }
      return .listed(try tokens(listed))
    }
    guard listed.isEmpty else { throw UsageError("Give --device or --devices-file, not both.") }
    guard path != "-" else {
      throw UsageError("--devices-file - (standard input) is not built yet. Give a file.")
    }
    let file = try InputFile(path, what: "The device list")
    guard file.isRegular else {
      throw UsageError("The device list \(path) is not a regular file, which is not built yet. Give a file.")
    }
    return .file(file, count: try firstPass(file))
  }

  private static func tokens(_ texts: [String]) throws(UsageError) -> [DeviceToken] {
    var tokens: [DeviceToken] = []
    for (index, text) in texts.enumerated() {
      do {
        tokens.append(try DeviceToken(parsing: text))
      } catch {
        throw UsageError("Device \(index + 1) of \(texts.count): \(error.message)", code: error.code)
      }
    }
    return tokens
  }

  /// Counts the tokens; one bad line refuses the whole list, so that nothing is sent to half of it.
  private static func firstPass(_ file: InputFile) throws(UsageError) -> Int {
    var lines = TokenLines(file)
    var count = 0
    var bad = 0
    var firstBad: [Int] = []
    while let line = try lines.next() {
      if line.token == nil {
        bad += 1
        if firstBad.count < shownLines { firstBad.append(line.number) }
      } else {
        count += 1
      }
    }
    guard bad == 0 else {
      let numbers = firstBad.map(String.init).joined(separator: ", ") + (bad > firstBad.count ? ", …" : "")
      throw UsageError(
        "\(bad) \(bad == 1 ? "line" : "lines") of \(file.path) hold no device token: \(numbers). "
          + "Nothing was sent. Correct or remove them; a token is hexadecimal digits alone.",
        code: "device_token_invalid")
    }
    guard count > 0 else { throw UsageError("The device list \(file.path) holds no tokens. Nothing was sent.") }
    file.rewind()
    return count
  }
}
