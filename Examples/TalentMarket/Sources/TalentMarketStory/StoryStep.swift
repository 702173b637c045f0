/// The steps of the story, in order. A failure names one of these.
public enum StoryStep: String, Sendable, CaseIterable {
  case startPabal = "start-pabal"
  case installApp = "install-app"
  case askPermission = "ask-permission"
  case registerDevice = "register-device"
  case talentRequest = "talent-request"
  case receipt = "receipt"
  case lockScreen = "lock-screen"
  case tap = "tap"
  case openedReported = "opened-reported"
  case imagePush = "image-push"
  case chatSuppressed = "chat-suppressed"
  case settingsSilent = "settings-silent"
  case chatShown = "chat-shown"
  case reply = "reply"
  case accept = "accept"
  case preferenceOff = "preference-off"
  case uninstalledPhone = "uninstalled-phone"
  case noDefects = "no-defects"

  /// What happens, in a line.
  public var title: String {
    switch self {
    case .startPabal: "Start Pabal with its stand-in for Apple"
    case .installApp: "Install Talent Market on a phone and open it"
    case .askPermission: "The app asks to send notifications; the user allows it"
    case .registerDevice: "The app registers its token with the server"
    case .talentRequest: "The market's backend asks for a talent-request push"
    case .receipt: "The service extension on the phone keeps a receipt"
    case .lockScreen: "The lock screen shows the request"
    case .tap: "The user taps; the app starts and opens the request"
    case .openedReported: "The server hears: received, opened"
    case .imagePush: "A message with a picture: the extension attaches it"
    case .chatSuppressed: "A chat message stays silent in its open room"
    case .settingsSilent: "A review stays silent over the settings screen"
    case .chatShown: "The next one shows once the room is left"
    case .reply: "A reply from the notification reaches the app"
    case .accept: "Accepting from the notification reaches the app"
    case .preferenceOff: "A switched-off kind is not sent, and is again when switched on"
    case .uninstalledPhone: "Another phone deletes the app: pabal why knows"
    case .noDefects: "No phone saw the app break a rule"
    }
  }
}

/// An expectation that was not met, and in which step.
public struct StoryFailure: Error, Sendable, CustomStringConvertible {
  public let step: StoryStep
  /// What should have been and what was seen instead.
  public let reason: String

  public var description: String { "step \(step.rawValue) failed: \(reason)" }
}

/// What a step found; becomes a `StoryFailure` with the step's name.
struct Unmet: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Throws unless `condition` holds.
func expect(_ condition: Bool, _ unmet: @autoclosure () -> String) throws(Unmet) {
  if !condition { throw Unmet(unmet()) }
}
func unwrap<Value>(_ value: Value?, _ unmet: @autoclosure () -> String) throws(Unmet) -> Value {
  guard let value else { throw Unmet(unmet()) }
  return value
}
