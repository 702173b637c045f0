import APNs
import ArgumentParsing
import PabalModel
import PabalPrimitives

/// `--topic`, `--priority`, `--expiration` and `--collapse-id`: the headers that every push of a run shares.
enum PushHead {
  /// - Parameter credential: a certificate for one app tells the topic where no flag does.
  static func read(
    _ command: ParsedCommand, pushType: APNsPushType, credential: APNsCredential? = nil, clock: Clock
  ) throws -> APNsHead {
    try APNsHead(
      topic: try topic(command, credential), pushType: pushType,
      priority: try command.integer(SendOptions.priority, in: 1...10).map(APNsPriority.init(rawValue:)),
      expiration: try expiration(command, clock), collapseID: command.value(SendOptions.collapseID))
  }

  private static func topic(_ command: ParsedCommand, _ credential: APNsCredential?) throws -> Topic {
    if case .certificate? = credential, let credential {
      return try credential.topic(given: command.value(SendOptions.topic).map(Topic.init(rawValue:)))
    }
    return Topic(rawValue: try command.required(SendOptions.topic))
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
}
