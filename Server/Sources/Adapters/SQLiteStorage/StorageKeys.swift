import Cryptography
import PabalModel
import PabalPrimitives
import Storage

/// What the master key is turned into: one key for each use, bound to this database by its salt.
struct StorageKeys: Sendable {
  private let data: AES256GCM
  private let blindIndex: HMACSHA256
  private let secretHash: HMACSHA256
  private let deliveryIDs: AES256Permutation
  private let deviceIDs: AES256Permutation
  private let apnsIDs: AES256Permutation
  /// Stored beside the data; another master key derives another one.
  let checkValue: [UInt8]

  /// - Parameters:
  ///   - masterKey: 32 bytes.
  ///   - salt: made once for each database, stored in it.
  init(masterKey: [UInt8], salt: [UInt8]) throws {
    func key(_ use: StaticString) throws -> [UInt8] {
      let info = use.withUTF8Buffer { Array($0) }
      return try HKDFSHA256.derive(from: masterKey, salt: salt, info: info)
    }
    data = try AES256GCM(key: key("pabal.data.1"))
    blindIndex = try HMACSHA256(key: key("pabal.blind-index.1"))
    secretHash = try HMACSHA256(key: key("pabal.secret-hash.1"))
    deliveryIDs = try AES256Permutation(key: key("pabal.delivery-id.1"))
    deviceIDs = try AES256Permutation(key: key("pabal.device-id.1"))
    apnsIDs = try AES256Permutation(key: key("pabal.apns-id.1"))
    checkValue = try key("pabal.check.1")
  }

  // MARK: Sealed columns

  /// Where a sealed value stands: table, column and numbers that never change, so that a box cannot be moved.
  struct Seat {
    let bytes: [UInt8]

    init(_ column: StaticString, _ numbers: Int64...) {
      bytes = column.withUTF8Buffer { Array($0) } + numbers.flatMap { StorageKeys.bytes(of: UInt64(bitPattern: $0)) }
    }

    init(token device: DeviceNumber) { self.init("device.token", device.rawValue) }
    init(data message: MessageNumber) { self.init("message.data", message.rawValue) }
    init(push key: DeliveryKey) { self.init("outgoing.push", key.message.rawValue, key.device.rawValue) }
    init(eventText key: DeliveryKey, ordinal: Int64) {
      self.init("event.text", key.message.rawValue, key.device.rawValue, ordinal)
    }
  }

  func seal(_ value: [UInt8], at seat: Seat) throws -> [UInt8] {
    try data.seal(value, for: seat.bytes)
  }

  func open(_ box: [UInt8], at seat: Seat) throws -> [UInt8] {
    try data.open(box, for: seat.bytes)
  }

  // MARK: Indexes over secrets

  /// 16 bytes are plenty for a look-up, and half the index.
  func blindIndex(of token: DeviceToken, appMode: AppMode) throws -> [UInt8] {
    Array(try blindIndex.code(for: Self.bytes(of: UInt64(bitPattern: appMode.rawValue)) + token.bytes).prefix(16))
  }

  /// A keyed hash of something that a caller chose: an install secret, a dedupe key, an event id.
  func hash(_ text: String, use: StaticString) throws -> [UInt8] {
    try secretHash.code(for: use.withUTF8Buffer { Array($0) } + [0] + Array(text.utf8))
  }

  func isInstallSecret(_ text: String, hash: [UInt8]) throws -> Bool {
    let message = Array("install.secret".utf8) + [0] + Array(text.utf8)
    return try secretHash.isValid(hash, for: message)
  }

  // MARK: Computed ids

  func deliveryID(for key: DeliveryKey) throws -> DeliveryID {
    let block = try deliveryIDs.apply(to: Self.block(key.message.rawValue, key.device.rawValue))
    return DeliveryID(rawValue: OpaqueID(bytes: block).text(prefix: "dlv_"))
  }

  /// `nil` when the text is no delivery id. Any 128 bits are one to the cipher; the look-up decides.
  func key(of id: DeliveryID) throws -> DeliveryKey? {
    guard let opaque = OpaqueID(text: id.rawValue, prefix: "dlv_") else { return nil }
    let (message, device) = Self.numbers(of: try deliveryIDs.invert(opaque.bytes))
    return DeliveryKey(message: MessageNumber(rawValue: message), device: DeviceNumber(rawValue: device))
  }

  func deviceID(for device: DeviceNumber, appMode: AppMode) throws -> DeviceID {
    let block = try deviceIDs.apply(to: Self.block(appMode.rawValue, device.rawValue))
    return DeviceID(rawValue: OpaqueID(bytes: block).text(prefix: "dev_"))
  }

  func number(of id: DeviceID, appMode: AppMode) throws -> DeviceNumber? {
    guard let opaque = OpaqueID(text: id.rawValue, prefix: "dev_") else { return nil }
    let (mode, device) = Self.numbers(of: try deviceIDs.invert(opaque.bytes))
    return mode == appMode.rawValue ? DeviceNumber(rawValue: device) : nil
  }

  func apnsID(for key: DeliveryKey) throws -> String {
    OpaqueID(bytes: try apnsIDs.apply(to: Self.block(key.message.rawValue, key.device.rawValue))).uuid
  }

  private static func block(_ high: Int64, _ low: Int64) -> [UInt8] {
    OpaqueID(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low)).bytes
  }

  private static func numbers(of block: [UInt8]) -> (Int64, Int64) {
    let opaque = OpaqueID(bytes: block)
    return (Int64(bitPattern: opaque.high), Int64(bitPattern: opaque.low))
  }

  private static func bytes(of word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
  }
}
