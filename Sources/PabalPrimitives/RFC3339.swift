extension WallTime {
  /// `2026-12-01T00:58:31.102Z`: UTC, always with milliseconds (RFC 3339).
  public var rfc3339: String {
    let milliOfSecond = milliseconds - seconds * 1000
    var days = seconds / 86_400
    var secondOfDay = seconds % 86_400
    if secondOfDay < 0 {
      secondOfDay += 86_400
      days -= 1
    }
    let date = CivilDate(daysSinceEpoch: days)
    let time = [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60].map { $0.padded(2) }
    return "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))T"
      + time.joined(separator: ":") + ".\(milliOfSecond.padded(3))Z"
  }

  /// Reads RFC 3339 with `Z` or a numeric offset; fractions beyond milliseconds are cut off.
  ///
  /// A time without an offset is refused: it means different moments to different people.
  public init?(rfc3339 text: String) {
    var reader = DigitReader(bytes: Array(text.utf8))
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
      let day = reader.number(2), reader.take("T") || reader.take("t") || reader.take(" "),
      let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
      let second = reader.number(2)
    else { return nil }
    guard hour < 24, minute < 60, second <= 60, let date = CivilDate(year: year, month: month, day: day) else {
      return nil
    }
    guard let fraction = reader.fractionMilliseconds(), let offset = reader.offsetMinutes(), reader.isAtEnd else {
      return nil
    }
    let secondOfDay = hour * 3600 + minute * 60 + min(second, 59) - offset * 60
    self.init(milliseconds: (date.daysSinceEpoch * 86_400 + secondOfDay) * 1000 + fraction)
  }
}

/// Days to year, month and day in the proleptic Gregorian calendar and back.
private struct CivilDate {
  let year: Int64
  let month: Int64
  let day: Int64

  init(daysSinceEpoch: Int64) {
    // Counting from 0000-03-01 puts the leap day last in the year, so that months need no table.
    let shifted = daysSinceEpoch + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  init?(year: Int64, month: Int64, day: Int64) {
    guard (1...12).contains(month), day >= 1 else { return nil }
    self.year = year
    self.month = month
    self.day = day
    let back = CivilDate(daysSinceEpoch: daysSinceEpoch)
    guard back.month == month, back.day == day else { return nil }
  }

  var daysSinceEpoch: Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

private struct DigitReader {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position == bytes.count }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  mutating func digit() -> Int64? {
    guard position < bytes.count, bytes[position] >= 0x30, bytes[position] <= 0x39 else { return nil }
    defer { position += 1 }
    return Int64(bytes[position] - 0x30)
  }

  mutating func number(_ digits: Int) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<digits {
      guard let next = digit() else { return nil }
      value = value * 10 + next
    }
    return value
  }

  mutating func fractionMilliseconds() -> Int64? {
    guard take(".") else { return 0 }
    var value: Int64 = 0
    var count = 0
    while let next = digit() {
      if count < 3 { value = value * 10 + next }
      count += 1
    }
    guard count > 0 else { return nil }
    for _ in count..<max(count, 3) { value *= 10 }
    return value
  }

  mutating func offsetMinutes() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let sign: Int64
    if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
    guard let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else { return nil }
    return sign * (hours * 60 + minutes)
  }
}

extension Int64 {
  fileprivate func padded(_ width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
  }
}
