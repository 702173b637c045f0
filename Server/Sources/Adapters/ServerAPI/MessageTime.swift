import Delivery
import HTTPServer
import PabalPrimitives

/// A time to live: seconds as a whole number, or an ISO 8601 duration of days, hours, minutes and seconds. Zero is now
/// or never.
///
/// Only a length is ever taken. A date, in seconds or milliseconds, is refused by its size: it would live for decades.
enum MessageTime {
  static func read(_ value: JSONSlice, _ name: String) throws(APIError) -> Duration {
    guard let seconds = value.int ?? value.string.flatMap(seconds) else {
      throw .invalid(name, "must be seconds as a whole number, or a duration such as PT4H or P3D")
    }
    guard (0...NotificationLimits.timeToLiveSeconds).contains(seconds) else {
      throw .invalid(
        name,
        "must be from 0 s (now or never) to \(NotificationLimits.timeToLiveSeconds) s; it is a length, not a date")
    }
    return .seconds(seconds)
  }

  static func seconds(_ text: String) -> Int? {
    guard text.first == "P" else { return nil }
    var units: [Character: Int] = ["D": 86_400, "W": 604_800]
    var total = 0
    var digits = ""
    var count = 0
    for character in text.dropFirst() {
      if character == "T", digits.isEmpty, units["D"] != nil {
        units = ["H": 3600, "M": 60, "S": 1]
      } else if character.isASCII, character.isNumber, digits.utf8.count < 9 {
        digits.append(character)
      } else if let unit = units[character], let number = Int(digits) {
        total += number * unit
        digits = ""
        count += 1
      } else {
        return nil
      }
    }
    return digits.isEmpty && count > 0 ? total : nil
  }
}
