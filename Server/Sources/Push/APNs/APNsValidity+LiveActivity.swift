internal import PabalPrimitives

extension APNsValidity {
  /// What each event of a Live Activity must have (Apple, "Starting and updating Live Activities with ActivityKit push
  /// notifications"). A device drops what lacks it without a word.
  static func liveActivityFindings(_ aps: JSONSlice, _ pushType: APNsPushType) -> [APNsFinding] {
    guard pushType == .liveactivity else { return [] }
    let required: [String]
    switch aps["event"]?.string {
    case "start": required = ["timestamp", "content-state", "attributes-type", "attributes", "alert"]
    case "update": required = ["timestamp", "content-state"]
    case "end": required = ["timestamp"]
    default: return [error("aps.event", "a liveactivity push must have an event: start, update or end")]
    }
    let isAbsent = { (name: String) in aps[name].map(\.isNull) ?? true }
    var findings = required.filter(isAbsent).map { error("aps.\($0)", "this event must have it") }
    for name in ["content-state", "attributes", "alert"] {
      if let value = aps[name], !value.isNull, value.kind != .object {
        findings.append(error("aps.\(name)", "it must be an object"))
      }
    }
    for name in ["timestamp", "stale-date", "dismissal-date"] {
      guard let value = aps[name], !value.isNull else { continue }
      if value.int == nil { findings.append(error("aps.\(name)", "it must be a whole number of UNIX seconds")) }
      if let seconds = value.int, seconds >= Int(APNsLimits.firstImplausibleExpiration) {
        findings.append(error("aps.\(name)", "it looks like milliseconds; give UNIX seconds"))
      }
    }
    if aps["event"]?.string == "end", isAbsent("content-state") {
      findings.append(warning("aps.content-state", "without the final state the last one shown stays"))
    }
    if aps["input-push-channel"] != nil, aps["input-push-token"] != nil {
      findings.append(warning("aps.input-push-token", "give a channel or ask for a token, not both"))
    }
    return findings
  }
}
