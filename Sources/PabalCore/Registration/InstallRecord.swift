package import PabalModel
package import PabalPrimitives

/// What the keychain keeps: survives the app's deletion, never moves to another device.
package struct InstallRecord: Sendable, Equatable {
  package static let name = "install"

  package var id: InstallID
  /// Counts changes of the account on this install; the server ignores what comes with a lower one.
  package var epoch: Int
  /// Proves a sign-out; `nil` until the server has given it.
  package var secret: String?

  package init(id: InstallID, epoch: Int = 0, secret: String? = nil) {
    self.id = id
    self.epoch = epoch
    self.secret = secret
  }

  package var encoded: [UInt8] {
    JSONValue.compact([
      "v": 1, "id": .string(id.rawValue), "epoch": .int(Int64(epoch)), "secret": JSONValue(secret),
    ]).encoded
  }

  /// `nil` when the bytes are not a record.
  package init?(_ bytes: [UInt8]) {
    do throws(JSONError) {
      let root = try JSONSlice(parsing: bytes)
      guard let id = root["id"]?.string.flatMap(InstallID.init(checking:)), let epoch = root["epoch"]?.int else {
        return nil
      }
      self.init(id: id, epoch: epoch, secret: root["secret"]?.string)
    } catch {
      return nil
    }
  }
}

/// What the app's folder keeps. Its absence next to an `InstallRecord` means that the app was deleted and installed
/// again.
package struct AccountRecord: Sendable, Equatable {
  package static let name = "account"

  package var user: UserID?
  package var epoch: Int
  /// Hash of the state that the server acknowledged last, and when.
  package var acknowledged: String?
  package var acknowledgedAt: WallTime?

  package init(user: UserID?, epoch: Int, acknowledged: String? = nil, acknowledgedAt: WallTime? = nil) {
    self.user = user
    self.epoch = epoch
    self.acknowledged = acknowledged
    self.acknowledgedAt = acknowledgedAt
  }

  package var encoded: [UInt8] {
    JSONValue.compact([
      "v": 1, "user": JSONValue(user?.rawValue), "epoch": .int(Int64(epoch)), "ack": JSONValue(acknowledged),
      "ackAt": JSONValue(acknowledgedAt?.milliseconds),
    ]).encoded
  }

  package init?(_ bytes: [UInt8]) {
    do throws(JSONError) {
      let root = try JSONSlice(parsing: bytes)
      guard let epoch = root["epoch"]?.int else { return nil }
      self.init(
        user: root["user"]?.string.flatMap(UserID.init(checking:)), epoch: epoch, acknowledged: root["ack"]?.string,
        acknowledgedAt: root["ackAt"]?.int.map { WallTime(milliseconds: Int64($0)) })
    } catch {
      return nil
    }
  }
}
