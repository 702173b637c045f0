import ArgumentParsing
import PabalPrimitives

/// What people mistype: legal JSON that APNs takes and the phone ignores.
enum PayloadSlips {
  struct Slip {
    let path: String
    let message: String
  }

  /// Keys of `aps` that are also found beside it, where they do nothing.
  private static let keysOfAps: Set<String> = [
    "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "interruption-level",
    "relevance-score", "target-content-id",
  ]
  private static let keysOfAlert = [
    "title", "subtitle", "body", "launch-image", "title-loc-key", "title-loc-args", "subtitle-loc-key",
    "subtitle-loc-args", "loc-key", "loc-args",
  ]

  static func find(in root: JSONSlice) -> [Slip] {
    beside(root) + flags(root) + alert(root)
  }

  private static func beside(_ root: JSONSlice) -> [Slip] {
    root.members.compactMap { member in
      keysOfAps.contains(member.name)
        ? Slip(path: member.name, message: "it stands beside aps, where iOS does not look; move it into aps") : nil
    }
  }

  /// Switches are the number 1; `true` and `"1"` are something else.
  private static func flags(_ root: JSONSlice) -> [Slip] {
    ["content-available", "mutable-content"].compactMap { name in
      guard let value = root["aps"]?[name], value.int != 1, value.int != 0 else { return nil }
      return Slip(path: "aps.\(name)", message: "it must be the number 1; iOS takes nothing else for yes")
    }
  }

  private static func alert(_ root: JSONSlice) -> [Slip] {
    guard let alert = root["aps"]?["alert"], alert.kind == .object else { return [] }
    return alert.members.compactMap { member in
      guard !keysOfAlert.contains(member.name) else { return nil }
      let nearest = NearestWord.find(member.name, among: keysOfAlert).map { "; did you mean \($0)?" }
      return Slip(
        path: "aps.alert.\(member.name)",
        message: "iOS does not know this key of alert" + (nearest ?? "; put your own data beside aps"))
    }
  }
}
