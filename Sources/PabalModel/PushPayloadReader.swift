public import PabalPrimitives

/// What an app needs to know of a payload, read without decoding the rest.
public struct PushPayloadReader: Sendable {
  public let root: JSONSlice

  public init(parsing bytes: [UInt8]) throws(JSONError) {
    root = try JSONSlice(parsing: bytes)
  }

  public var identity: PushIdentity? {
    guard let message = root["pabal"]?["m"]?.string, let delivery = root["pabal"]?["d"]?.string else { return nil }
    return PushIdentity(message: MessageID(rawValue: message), delivery: DeliveryID(rawValue: delivery))
  }

  public var title: String? { root["aps"]?["alert"]?["title"]?.string }

  /// `aps.alert` may be the body alone.
  public var body: String? {
    root["aps"]?["alert"]?["body"]?.string ?? root["aps"]?["alert"]?.string
  }

  public var category: String? { root["aps"]?["category"]?.string }
  public var threadIdentifier: String? { root["aps"]?["thread-id"]?.string }

  /// The guide's first form names the image `imageUrl`, its second `image`.
  public var imageURL: String? { root["image"]?.string ?? root["imageUrl"]?.string }

  /// A root member of the app's own.
  public subscript(_ key: String) -> JSONSlice? { root[key] }
}
