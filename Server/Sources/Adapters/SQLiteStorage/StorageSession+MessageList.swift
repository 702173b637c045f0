import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

// A page of messages. However many they are, each table is asked once.
extension StorageSession {
  func messages(to user: UserID, in appMode: AppMode, page: ListPage<MessageID>) throws -> [MessageSummary] {
    guard let number = try userNumber(user, in: appMode) else { return [] }
    let start: Int64? =
      try page.after.map { last in
        try connection.first(
          "SELECT seq FROM message WHERE am = ? AND id = ?", .integer(appMode.rawValue), .text(last.rawValue)
        ) { $0.integer(0) }
      } ?? .max
    guard let start else { return [] }
    var messages = try connection.rows(
      """
      SELECT m.seq, m.id, m.type, m.category, m.source, m.request, m.created, m.expires
      FROM single n JOIN message m ON m.seq = n.msg
      WHERE n.am = ? AND n.user = ? AND n.msg < ? ORDER BY n.msg DESC LIMIT ?
      """,
      .integer(appMode.rawValue), .integer(number.rawValue), .integer(start), .integer(Int64(page.limit)),
      as: Self.messageSummary)
    guard !messages.isEmpty else { return [] }
    let numbers = messages.map { JSONValue.int($0.identity.number.rawValue) }
    let places = SQLiteValue.text(JSONValue.array(numbers).encodedText)
    for (index, reason, users) in try decisions(at: places, in: appMode) {
      messages[index].decisions[reason] = users
    }
    for (index, state, deliveries) in try states(at: places, in: appMode) {
      messages[index].counts[state] = deliveries
    }
    return messages
  }

  private static func messageSummary(_ row: SQLiteRow) -> MessageSummary {
    MessageSummary(
      identity: MessageIdentity(
        number: MessageNumber(rawValue: row.integer(0)), id: MessageID(rawValue: row.text(1))),
      type: row.text(2), category: row.optionalText(3), source: row.text(4), requestID: row.optionalText(5),
      createdAt: WallTime(milliseconds: row.integer(6)),
      lifetime: row.optionalInteger(7).map(PushLifetime.init(column:)), decisions: [:], counts: [:])
  }

  /// - Parameter places: the numbers of the messages; a place in that list stands in each answer.
  private func decisions(
    at places: SQLiteValue, in appMode: AppMode
  ) throws -> [(index: Int, reason: ReasonCode?, users: Int)] {
    try connection.rows(
      """
      SELECT p.key, d.reason, count(*) FROM json_each(?2) p CROSS JOIN decision d ON d.am = ?1 AND d.msg = p.value
      GROUP BY p.key, d.reason
      """,
      .integer(appMode.rawValue), places
    ) { (Int($0.integer(0)), $0.optionalText(1).map(ReasonCode.init(rawValue:)), Int($0.integer(2))) }
  }

  private func states(
    at places: SQLiteValue, in appMode: AppMode
  ) throws -> [(index: Int, state: DeliveryState, deliveries: Int)] {
    try connection.rows(
      """
      SELECT p.key, d.state, count(*) FROM json_each(?2) p CROSS JOIN delivery d ON d.am = ?1 AND d.msg = p.value
      GROUP BY p.key, d.state
      """,
      .integer(appMode.rawValue), places
    ) { (Int($0.integer(0)), try DeliveryState(column: $0.integer(1)), Int($0.integer(2))) }
  }
}
