import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

extension StorageSession {
  func recordEvents(_ events: [DeviceEvent]) throws -> [EventResult] {
    try events.check()
    return try events.map(record)
  }

  private func record(_ event: DeviceEvent) throws -> EventResult {
    guard let key = try keys.key(of: event.delivery),
      let (acceptedAt, frequencyClass) = try acceptance(of: event.message, number: key.message, in: event.appMode),
      try hasDelivery(key, in: event.appMode)
    else { return .unknownDelivery }
    let appMode = SQLiteValue.integer(event.appMode.rawValue)
    let message = SQLiteValue.integer(key.message.rawValue)
    let device = SQLiteValue.integer(key.device.rawValue)
    let ordinal =
      try connection.first(
        "SELECT count(*) FROM event WHERE am = ? AND msg = ? AND dev = ?", appMode, message, device
      ) { $0.integer(0) } ?? 0
    let seat = StorageKeys.Seat(eventText: key, ordinal: ordinal)
    let text = try event.text.map { try keys.seal(Array($0.utf8), at: seat) }
    let inserted = try connection.run(
      """
      INSERT INTO event (am, msg, dev, kind, key, ord, at, received, action, text, name, value)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """,
      appMode, message, device, .text(event.kind.rawValue), .blob(try keys.hash(event.eventID, use: "event.id")),
      .integer(ordinal), .integer(event.clampedTime(acceptedAt: acceptedAt).milliseconds),
      .integer(event.receivedAt.milliseconds), SQLiteValue(event.action), SQLiteValue(text),
      SQLiteValue(event.name), SQLiteValue(event.value))
    guard inserted == 1 else { return .duplicate }
    if event.revivesDevice, let device = try self.device(key.device, in: event.appMode), device.status == .inactive {
      try setStatus(of: device, active: true, reason: nil, in: event.appMode, at: event.receivedAt)
    }
    guard event.kind == .opened, try openings(of: key, in: event.appMode) == 1 else { return .accepted }
    return .opened(event.opening(acceptedAt: acceptedAt, frequencyClass: frequencyClass))
  }

  private func openings(of key: DeliveryKey, in appMode: AppMode) throws -> Int64 {
    try connection.first(
      "SELECT count(*) FROM event WHERE am = ? AND msg = ? AND dev = ? AND kind = ?", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue), .text(EventKind.opened.rawValue)
    ) { $0.integer(0) } ?? 0
  }

  /// When the message was accepted, and its class, if number and id belong together.
  private func acceptance(
    of id: MessageID, number: MessageNumber, in appMode: AppMode
  ) throws -> (at: WallTime, frequencyClass: String)? {
    try connection.first(
      "SELECT created, class FROM message WHERE seq = ? AND am = ? AND id = ?", .integer(number.rawValue),
      .integer(appMode.rawValue), .text(id.rawValue)
    ) { (WallTime(milliseconds: $0.integer(0)), $0.text(1)) }
  }

  private func hasDelivery(_ key: DeliveryKey, in appMode: AppMode) throws -> Bool {
    try deliveryOwner(key, in: appMode) != nil
  }

  /// The user of a delivery: most often the device's present one, else whoever had it then.
  func deliveryOwner(_ key: DeliveryKey, in appMode: AppMode) throws -> UserNumber? {
    let present = try connection.first(
      """
      SELECT d.user FROM device_seen s
        JOIN delivery d ON d.am = s.am AND d.msg = ?2 AND d.user = s.user AND d.dev = s.dev
      WHERE s.am = ?1 AND s.dev = ?3
      """,
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(key.device.rawValue)
    ) { UserNumber(rawValue: $0.integer(0)) }
    if let present { return present }
    return try connection.first(
      "SELECT user FROM delivery WHERE am = ? AND msg = ? AND dev = ?", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue)
    ) { UserNumber(rawValue: $0.integer(0)) }
  }
}
