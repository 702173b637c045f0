/// The headers of a push request, sorted into those that APNs knows.
struct RequestFields {
  private(set) var method = ""
  private(set) var path = ""
  private(set) var authorization: String?
  private(set) var topic: String?
  private(set) var pushType: String?
  private(set) var id: String?
  private(set) var expiration: String?
  private(set) var priority: String?
  private(set) var collapseID: String?
  /// The name of a header that came twice.
  private(set) var duplicate: String?

  init(_ headers: [StandInHeader]) {
    var others: [String] = []
    for header in headers {
      switch header.name {
      case ":method": method = header.value
      case ":path": path = header.value
      case "authorization": Self.keep(header, in: &authorization, or: &duplicate)
      case "apns-topic": Self.keep(header, in: &topic, or: &duplicate)
      case "apns-push-type": Self.keep(header, in: &pushType, or: &duplicate)
      case "apns-id": Self.keep(header, in: &id, or: &duplicate)
      case "apns-expiration": Self.keep(header, in: &expiration, or: &duplicate)
      case "apns-priority": Self.keep(header, in: &priority, or: &duplicate)
      case "apns-collapse-id": Self.keep(header, in: &collapseID, or: &duplicate)
      default:
        guard !header.name.hasPrefix(":") else { continue }
        if others.contains(header.name) { duplicate = duplicate ?? header.name }
        others.append(header.name)
      }
    }
  }

  private static func keep(_ header: StandInHeader, in field: inout String?, or duplicate: inout String?) {
    if field == nil { field = header.value } else { duplicate = duplicate ?? header.name }
  }
}

/// The path of a device push, `/3/device/<token>`.
enum DevicePath: Equatable {
  case device(token: Substring)
  case missingToken
  case unknown

  init(_ path: String) {
    // Bytes, not characters: this is asked for each request.
    let prefix = "/3/device/".utf8
    guard path.utf8.starts(with: prefix) else {
      self = .unknown
      return
    }
    let token = path[path.utf8.index(path.startIndex, offsetBy: prefix.count)...]
    if token.isEmpty {
      self = .missingToken
    } else if token.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }) {
      self = .unknown
    } else {
      self = .device(token: token)
    }
  }
}

/// The hex text of a device token in a path.
enum DeviceTokenText {
  /// The bytes, or `nil` for an odd length, a character that is no hex digit, or more bytes than the limit.
  static func bytes(_ text: Substring) -> [UInt8]? {
    let digits = text.utf8
    guard !digits.isEmpty, digits.count % 2 == 0, digits.count / 2 <= StandInLimits.deviceTokenBytes else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for byte in digits {
      guard let value = hexValue(byte) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }
}
