internal import Foundation
package import PabalModel
package import PabalPrimitives

/// Turns the system's dictionary of a payload into JSON, at the border, once.
package enum UserInfoReader {
  package static func json(_ userInfo: [AnyHashable: Any]) -> JSONValue {
    .object(members(userInfo))
  }

  /// Who sent it; `nil` for a push that Pabal's server did not send.
  package static func identity(_ payload: JSONValue) -> PushIdentity? {
    guard case .object(let pabal)? = member("pabal", of: payload),
      case .string(let message)? = member("m", of: .object(pabal)),
      case .string(let delivery)? = member("d", of: .object(pabal))
    else { return nil }
    return PushIdentity(message: MessageID(rawValue: message), delivery: DeliveryID(rawValue: delivery))
  }

  /// A member at the root of the payload, when it is a text.
  package static func text(_ name: String, in payload: JSONValue) -> String? {
    guard case .string(let text)? = member(name, of: payload) else { return nil }
    return text
  }

  private static func member(_ name: String, of value: JSONValue) -> JSONValue? {
    guard case .object(let members) = value else { return nil }
    return members.first { $0.name == name }?.value
  }

  private static func members(_ dictionary: [AnyHashable: Any]) -> [JSONMember] {
    dictionary.compactMap { key, value in (key.base as? String).map { JSONMember($0, json(of: value)) } }
      .sorted { $0.name < $1.name }
  }

  private static func json(of value: Any) -> JSONValue {
    // A truth value and the number 1 are both numbers to the system: the exact type decides first.
    if type(of: value) == Bool.self, let flag = value as? Bool { return .bool(flag) }
    switch value {
    case let text as String: return .string(text)
    case let dictionary as [AnyHashable: Any]: return .object(members(dictionary))
    case let elements as [Any]: return .array(elements.map(json(of:)))
    case let number as NSNumber: return json(of: number)
    default: return .null
    }
  }

  private static func json(of number: NSNumber) -> JSONValue {
    switch number.objCType.pointee {
    case CChar(UInt8(ascii: "c")): .bool(number.boolValue)
    case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): .double(number.doubleValue)
    default: .int(number.int64Value)
    }
  }
}
