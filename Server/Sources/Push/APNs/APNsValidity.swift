package import PabalPrimitives

/// One thing that is wrong or odd about a payload for its push type.
package struct APNsFinding: Hashable, Sendable {
  package enum Severity: String, Sendable {
    /// APNs refuses it, or the device cannot do what is asked.
    case error
    /// It is sent, but probably not meant.
    case warning
  }

  package let severity: Severity
  /// Where, e.g. `aps.badge`.
  package let path: String
  package let message: String
}

/// Apple's rules on which payload goes with which push type (Apple, "Generating a remote notification").
package enum APNsValidity {
  /// The push type that a payload asks for when its sender names none: alert, badge or sound present means `alert`,
  /// else `content-available` means `background`; `nil` when the payload does not tell.
  package static func pushType(inferredFrom root: JSONSlice) -> APNsPushType? {
    guard let aps = root["aps"] else { return nil }
    if isVisible(aps) { return .alert }
    return aps["content-available"]?.int == 1 ? .background : nil
  }

  /// Everything to say about `root` as a push of `pushType`, errors first.
  package static func findings(in root: JSONSlice, as pushType: APNsPushType) -> [APNsFinding] {
    guard let aps = root["aps"] else {
      let needsIt: Set<APNsPushType> = [.alert, .background, .liveactivity, .widgets, .controls]
      guard needsIt.contains(pushType) else { return memberFindings(root, pushType) }
      return [error("aps", "a push of type \(pushType.rawValue) needs the object aps")]
    }
    let findings =
      pushTypeFindings(aps, pushType) + liveActivityFindings(aps, pushType) + badgeFindings(aps) + soundFindings(aps)
      + alertFindings(aps)
      + levelFindings(aps, pushType) + unknownKeyFindings(aps, pushType) + memberFindings(root, pushType)
    return findings.filter { $0.severity == .error } + findings.filter { $0.severity == .warning }
  }

  /// The errors of `findings(in:as:)` as one refusal.
  package static func check(_ root: JSONSlice, as pushType: APNsPushType) throws(APNsRequestError) {
    let errors = findings(in: root, as: pushType).filter { $0.severity == .error }
    guard !errors.isEmpty else { return }
    throw .payload(errors.map { "\($0.path): \($0.message)" }.joined(separator: "; ") + ".")
  }

  private static func isVisible(_ aps: JSONSlice) -> Bool {
    ["alert", "sound", "badge"].contains { name in aps[name].map { !$0.isNull } ?? false }
  }

  private static func pushTypeFindings(_ aps: JSONSlice, _ pushType: APNsPushType) -> [APNsFinding] {
    var findings: [APNsFinding] = []
    let visible = isVisible(aps)
    let wakes = aps["content-available"]?.int == 1
    if pushType == .background, visible {
      findings.append(error("aps", "a background push must have no alert, sound or badge; send it as alert"))
    }
    if pushType == .background, !wakes {
      findings.append(error("aps.content-available", "a background push must have content-available: 1"))
    }
    if pushType == .alert, !visible {
      findings.append(
        wakes
          ? error("aps", "content-available without alert, sound or badge must be sent as background")
          : error("aps", "an alert push needs alert, sound or badge"))
    }
    if aps["mutable-content"]?.int == 1, aps["alert"].map(\.isNull) ?? true {
      findings.append(warning("aps.mutable-content", "without an alert the service extension is not started"))
    }
    return findings
  }

  private static func badgeFindings(_ aps: JSONSlice) -> [APNsFinding] {
    guard let badge = aps["badge"], !badge.isNull else { return [] }
    guard let number = badge.int, number >= 0 else {
      return [error("aps.badge", "the badge must be a whole number from 0, without quotes")]
    }
    return []
  }

  private static func soundFindings(_ aps: JSONSlice) -> [APNsFinding] {
    guard let sound = aps["sound"], !sound.isNull else { return [] }
    do {
      guard case .critical(_, let isCritical, _)? = try APNsSound.read(sound), !isCritical else { return [] }
      return [warning("aps.sound", "a sound object without critical: 1 has no use; give the name alone")]
    } catch {
      return [self.error("aps.sound", error.message)]
    }
  }

  private static func alertFindings(_ aps: JSONSlice) -> [APNsFinding] {
    guard let alert = aps["alert"], !alert.isNull else { return [] }
    guard alert.kind == .object else {
      return alert.kind == .string ? [] : [error("aps.alert", "alert must be a string or an object")]
    }
    var findings: [APNsFinding] = []
    for (plain, localized) in [("title", "title-loc-key"), ("subtitle", "subtitle-loc-key"), ("body", "loc-key")] {
      if alert[plain] != nil, alert[localized] != nil {
        findings.append(warning("aps.alert.\(localized)", "it replaces \(plain); give one of the two"))
      }
    }
    for (arguments, key) in [
      ("title-loc-args", "title-loc-key"), ("subtitle-loc-args", "subtitle-loc-key"), ("loc-args", "loc-key"),
    ] where alert[arguments] != nil && alert[key] == nil {
      findings.append(warning("aps.alert.\(arguments)", "it has no effect without \(key)"))
    }
    return findings
  }

  private static func levelFindings(_ aps: JSONSlice, _ pushType: APNsPushType) -> [APNsFinding] {
    var findings: [APNsFinding] = []
    switch aps["interruption-level"]?.string {
    case "critical": findings.append(warning("aps.interruption-level", "critical needs Apple's entitlement"))
    case "time-sensitive":
      findings.append(warning("aps.interruption-level", "time-sensitive needs the capability of that name"))
    default: break
    }
    if let score = aps["relevance-score"]?.double, pushType != .liveactivity, !(0...1).contains(score) {
      findings.append(warning("aps.relevance-score", "it should be from 0 to 1"))
    }
    return findings
  }

  private static func unknownKeyFindings(_ aps: JSONSlice, _ pushType: APNsPushType) -> [APNsFinding] {
    aps.members.compactMap { member in
      let path = "aps.\(member.name)"
      if liveActivityKeys.contains(member.name) {
        return pushType == .liveactivity ? nil : warning(path, "it has an effect in liveactivity pushes only")
      }
      return commonKeys.contains(member.name) ? nil : warning(path, "APNs ignores this key; put your own beside aps")
    }
  }

  /// Members beside `aps` without which the receiver does nothing.
  private static func memberFindings(_ root: JSONSlice, _ pushType: APNsPushType) -> [APNsFinding] {
    switch pushType {
    case .fileprovider where root["container-identifier"] == nil:
      [warning("container-identifier", "a fileprovider push names the container that changed")]
    case .mdm where root["mdm"]?.string == nil:
      [warning("mdm", "an mdm push carries the device's PushMagic as mdm")]
    default: []
    }
  }

  private static let commonKeys: Set<String> = [
    "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id",
    "interruption-level", "relevance-score", "filter-criteria", "content-changed", "ptt-push-type", "url-args",
  ]
  private static let liveActivityKeys: Set<String> = [
    "stale-date", "content-state", "timestamp", "event", "dismissal-date", "attributes-type", "attributes",
    "input-push-channel", "input-push-token",
  ]

  static func error(_ path: String, _ message: String) -> APNsFinding {
    APNsFinding(severity: .error, path: path, message: message)
  }

  static func warning(_ path: String, _ message: String) -> APNsFinding {
    APNsFinding(severity: .warning, path: path, message: message)
  }
}
