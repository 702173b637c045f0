package import PabalPrimitives

/// What an extension tells the app: one push reached this device.
package struct MailboxRecord: Sendable, Hashable {
  package let messageID: String
  package let deliveryID: String
  /// When the extension was started for it.
  package let receivedAt: WallTime

  package init(messageID: String, deliveryID: String, receivedAt: WallTime) {
    self.messageID = messageID
    self.deliveryID = deliveryID
    self.receivedAt = receivedAt
  }

  /// First byte of every record. A reader leaves records of a version it does not know where they are: the extension
  /// may be newer than the app while an update is under way.
  static let version: UInt8 = 1

  /// The version byte, then one JSON object.
  var encoded: [UInt8] {
    let object: JSONValue = [
      "kind": "receipt", "m": .string(messageID), "d": .string(deliveryID), "at": .int(receivedAt.milliseconds),
    ]
    return [Self.version] + object.encoded
  }

  enum Reading {
    case record(MailboxRecord)
    case laterVersion
    case broken
  }

  static func decode(_ bytes: [UInt8]) -> Reading {
    guard let first = bytes.first else { return .broken }
    guard first == version else { return first > version ? .laterVersion : .broken }
    guard let object = parse(Array(bytes.dropFirst())), object["kind"]?.string == "receipt",
      let message = object["m"]?.string, let delivery = object["d"]?.string, let at = object["at"]?.int
    else { return .broken }
    return .record(
      MailboxRecord(
        messageID: message, deliveryID: delivery, receivedAt: WallTime(milliseconds: Int64(at))))
  }

  private static func parse(_ bytes: [UInt8]) -> JSONSlice? {
    do throws(JSONError) {
      return try JSONSlice(parsing: bytes)
    } catch {
      return nil
    }
  }
}
