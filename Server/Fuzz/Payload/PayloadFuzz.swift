import APNs
import PabalPrimitives
import Simulator

/// A payload that a user brings.
enum PayloadFuzz {
  private static let depth = 32
  /// Each has rules of its own; the others have none.
  private static let types: [APNsPushType] = [.alert, .background, .voip, .liveactivity, .fileprovider, .mdm]

  static func run(_ bytes: [UInt8]) throws {
    let root = try? JSONSlice(parsing: bytes, maximumDepth: depth)
    try demand(
      (root?.kind == .object) == StandInParsing.isObject(bytes, maximumDepth: depth),
      "ours and the stand-in's scanner agree on what a JSON object is")
    if let root { try walk(root) }
    for type in types {
      guard let payload = try? APNsPayload(checking: bytes, for: type) else { continue }
      try demand(payload.bytes.count <= type.maximumPayloadBytes, "no payload is larger than its type allows")
      try demand(bytes.starts(with: payload.bytes), "a payload is sent as it was given")
      let parsed = try APNsPayload.parse(payload.bytes)
      _ = APNsValidity.findings(in: parsed, as: type)
      _ = APNsValidity.pushType(inferredFrom: parsed)
    }
  }

  /// Every value is read in every way.
  private static func walk(_ value: JSONSlice) throws {
    _ = (value.string, value.int, value.double, value.bool)
    for element in value.elements { try walk(element) }
    for (name, member) in value.members {
      try demand(value[name] != nil, "a member that is listed is found")
      try walk(member)
    }
    try demand((try? JSONSlice(parsing: Array(value.bytes))) != nil, "a part of a value is a value")
  }
}
