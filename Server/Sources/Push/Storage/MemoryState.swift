import PabalModel
import PabalPrimitives

/// The tables of ``MemoryStorage``; its verbs stand in extensions beside this file.
struct MemoryState {
  struct UserKey: Hashable {
    var appMode: AppMode
    var user: UserID
  }

  struct Device {
    var appMode: AppMode
    var record: DeviceRecord
    var secret: String?
    var isProven = false
  }

  struct Change {
    var user: UserKey
    var sequence: Int64
  }

  struct ClaimKey: Hashable {
    var user: UserKey
    var key: String
  }

  struct Claim {
    var message: MessageNumber
    var until: WallTime
  }

  struct Message {
    var acceptance: MessageAcceptance
  }

  struct DeliveryRow {
    var record: DeliveryRecord
    var push: OutgoingPush?
    var markedAt: WallTime?
    /// When it may be claimed, while it waits.
    var due: WallTime?
    var postponements = 0
    var decided: [TraceStep]
    var concluded: [TraceStep] = []
    var eventKeys: Set<String> = []
  }

  var apps: [String: Int64] = [:]
  var lastDevice: Int64 = 0
  var lastMessage: Int64 = 0
  var users: [UserKey: UserNumber] = [:]
  var devices: [DeviceNumber: Device] = [:]
  var preferences: [UserKey: PreferenceSet] = [:]
  var changes: [Change] = []
  var claims: [ClaimKey: Claim] = [:]
  var messages: [MessageNumber: Message] = [:]
  var deliveries: [DeliveryKey: DeliveryRow] = [:]
  var deliveryOrder: [MessageNumber: [DeliveryKey]] = [:]

  mutating func openApp(named name: String, mode: PushMode) throws(StorageError) -> AppMode {
    guard (1...64).contains(name.utf8.count) else {
      throw StorageError(.invalidCall, "An app's name has 1 to 64 bytes.")
    }
    let number = apps[name] ?? Int64(apps.count) + 1
    apps[name] = number
    return AppMode(app: number, mode: mode)
  }

  /// Gives the user a number at first sight.
  mutating func see(_ user: UserID, in appMode: AppMode) -> UserNumber {
    let key = UserKey(appMode: appMode, user: user)
    let number = users[key] ?? UserNumber(rawValue: Int64(users.count) + 1)
    users[key] = number
    return number
  }

  mutating func noteChange(of user: UserID?, in appMode: AppMode) {
    guard let user else { return }
    let sequence = Int64(changes.count) + 1
    changes.append(Change(user: UserKey(appMode: appMode, user: user), sequence: sequence))
  }

  func devices(in appMode: AppMode) -> [DeviceRecord] {
    devices.values.filter { $0.appMode == appMode }.map(\.record).sorted { $0.number < $1.number }
  }

  // MARK: Ids

  /// A four-round Feistel network: reversible, opaque enough for a test, no key.
  static func deliveryID(for key: DeliveryKey) -> DeliveryID {
    var left = UInt64(bitPattern: key.message.rawValue)
    var right = UInt64(bitPattern: key.device.rawValue)
    for round in 0..<UInt64(4) { (left, right) = (right, left ^ mix(right, round)) }
    return DeliveryID(rawValue: OpaqueID(high: left, low: right).text(prefix: "dlv_"))
  }

  static func key(of id: DeliveryID) -> DeliveryKey? {
    guard let opaque = OpaqueID(text: id.rawValue, prefix: "dlv_") else { return nil }
    var (left, right) = (opaque.high, opaque.low)
    for round in (0..<UInt64(4)).reversed() { (left, right) = (right ^ mix(left, round), left) }
    return DeliveryKey(
      message: MessageNumber(rawValue: Int64(bitPattern: left)),
      device: DeviceNumber(rawValue: Int64(bitPattern: right)))
  }

  static func apnsID(for key: DeliveryKey) -> String {
    let message = UInt64(bitPattern: key.message.rawValue)
    let device = UInt64(bitPattern: key.device.rawValue)
    return OpaqueID(high: mix(message, device), low: mix(device, message &+ 1)).uuid
  }

  static func deviceID(for number: DeviceNumber) -> DeviceID {
    let value = UInt64(bitPattern: number.rawValue)
    return DeviceID(rawValue: OpaqueID(high: mix(value, 7), low: mix(value, 11)).text(prefix: "dev_"))
  }

  private static func mix(_ value: UInt64, _ round: UInt64) -> UInt64 {
    var generator = SeededGenerator(seed: value &+ round &* 0x2545_F491_4F6C_DD1D)
    return generator.next()
  }
}
