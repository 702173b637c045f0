import APNs
import PabalPrimitives
import ServerAPI

/// What of a payload a person gets to see or hear (Apple, "Generating a remote notification").
struct ShownPush {
  let pushType: APNsPushType
  let title: String?
  let subtitle: String?
  let body: String?
  let notes: [Sentence]
  private let aps: JSONSlice?

  var hasCard: Bool { title != nil || subtitle != nil || body != nil }

  init(_ root: JSONSlice, _ pushType: APNsPushType) {
    self.pushType = pushType
    let aps = root["aps"]
    self.aps = aps
    let alert = aps?["alert"]
    title = Self.text(alert, "title", key: "title-loc-key", arguments: "title-loc-args")
    subtitle = Self.text(alert, "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
    body = alert?.string ?? Self.text(alert, "body", key: "loc-key", arguments: "loc-args")
    let isVisible = title != nil || subtitle != nil || body != nil
    notes = Self.kind(pushType, aps, isVisible: isVisible) + Self.extras(aps, root) + Self.level(aps)
  }

  var json: JSONValue {
    [
      "object": "preview", "pushType": .string(pushType.rawValue), "visible": .bool(hasCard),
      "title": JSONValue(title), "subtitle": JSONValue(subtitle), "body": JSONValue(body),
      "badge": JSONValue(aps?["badge"]?.int), "sound": JSONValue(Self.sound(aps)),
      "notes": .array(notes.map { ["en": .string($0.english), "ko": .string($0.korean)] }),
    ]
  }

  /// The text, or the key that the app looks up, with its arguments: `‹GAME_INVITE›(Jenna)`.
  private static func text(_ alert: JSONSlice?, _ name: String, key: String, arguments: String) -> String? {
    guard let alert, alert.kind == .object else { return nil }
    // In a Live Activity's alert the member itself may hold the key.
    let inner = alert[name]
    let found = alert[key]?.string ?? inner?["loc-key"]?.string
    guard let found else { return inner?.string }
    let words = (alert[arguments] ?? inner?["loc-args"])?.elements.compactMap(\.string) ?? []
    return "‹\(found)›" + (words.isEmpty ? "" : "(\(words.joined(separator: ", ")))")
  }

  private static func sound(_ aps: JSONSlice?) -> String? {
    aps?["sound"]?.string ?? aps?["sound"]?["name"]?.string
  }

  private static func kind(_ pushType: APNsPushType, _ aps: JSONSlice?, isVisible: Bool) -> [Sentence] {
    switch pushType {
    case .alert where isVisible: []
    case .alert: [Sentence("No banner: the push has no text.", "글이 없어 배너가 뜨지 않습니다.")]
    case .background:
      [
        Sentence(
          "Nothing is shown: the app is woken for up to 30 seconds, if the system thinks fit.",
          "화면에는 아무것도 뜨지 않습니다. 시스템이 허락하면 앱이 최대 30초 동안 깨어납니다.")
      ]
    case .voip: [Sentence("The app must show an incoming call at once.", "앱이 곧바로 수신 전화 화면을 보여야 합니다.")]
    case .liveactivity:
      [
        Sentence(
          "A Live Activity changes: \(aps?["event"]?.string ?? "event is missing").",
          "실시간 현황이 바뀝니다: \(aps?["event"]?.string ?? "event 없음")")
      ]
    default:
      [
        Sentence(
          "Nothing is shown by itself: a push of type \(pushType.rawValue) goes to the app's extension.",
          "직접 보이는 것은 없습니다. \(pushType.rawValue) 푸시는 앱의 확장 기능으로 갑니다.")
      ]
    }
  }

  private static func extras(_ aps: JSONSlice?, _ root: JSONSlice) -> [Sentence] {
    guard let aps else { return [] }
    var notes: [Sentence] = []
    if let badge = aps["badge"]?.int {
      notes.append(
        badge == 0
          ? Sentence("The badge goes away.", "배지가 사라집니다.")
          : Sentence("The badge shows \(badge).", "배지에 \(badge)이(가) 표시됩니다."))
    }
    notes.append(
      sound(aps).map { Sentence("It sounds: \($0).", "소리가 납니다: \($0)") }
        ?? Sentence("It makes no sound.", "소리는 나지 않습니다."))
    if let thread = aps["thread-id"]?.string {
      notes.append(Sentence("It is grouped with \"\(thread)\".", "\"\(thread)\" 묶음에 들어갑니다."))
    }
    if let category = aps["category"]?.string {
      notes.append(
        Sentence(
          "Its buttons are those of the app's category \"\(category)\".", "버튼은 앱의 \"\(category)\" 카테고리를 따릅니다."))
    }
    if aps["mutable-content"]?.int == 1 {
      let image = root["imageUrl"]?.string.map { ": \($0)" } ?? ""
      notes.append(
        Sentence(
          "The app's service extension may change it first\(image).", "앱의 서비스 확장이 먼저 내용을 바꿀 수 있습니다\(image)."))
    }
    if aps["content-available"]?.int == 1 {
      notes.append(Sentence("The app is woken as well.", "앱도 함께 깨어납니다."))
    }
    return notes
  }

  private static func level(_ aps: JSONSlice?) -> [Sentence] {
    switch aps?["interruption-level"]?.string {
    case "passive":
      [Sentence("The screen stays dark; it waits in Notification Center.", "화면이 켜지지 않고 알림 센터에만 쌓입니다.")]
    case "time-sensitive":
      [
        Sentence(
          "It breaks through Focus, if the app may send time-sensitive notifications.",
          "시간에 민감한 알림이 허용된 앱이면 집중 모드 중에도 보입니다.")
      ]
    case "critical":
      [Sentence("It sounds even when muted, with Apple's entitlement.", "Apple의 권한이 있으면 무음에서도 소리가 납니다.")]
    default: []
    }
  }
}
