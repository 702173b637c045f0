public import PabalPrimitives

/// The address of one app on one device, as APNs issued it: 1 to 1024 raw bytes, hexadecimal only at the edges.
///
/// Apple does not promise a length ("Registering your app with APNs"), so none is demanded. It prints as `redacted`.
public struct DeviceToken: Hashable, Sendable, Unprintable {
  /// Apple's tokens have 32 bytes today; the limit only keeps rows and paths bounded.
  public static let maximumBytes = 1024

  public let bytes: [UInt8]

  /// `nil` for no bytes or too many.
  public init?(bytes: [UInt8]) {
    guard (1...Self.maximumBytes).contains(bytes.count) else { return nil }
    self.bytes = bytes
  }

  /// Lower-case hexadecimal, as it stands in `/3/device/<token>`.
  public var hex: String { Hex.encode(bytes) }

  public var description: String { redacted }

  /// `740f…4bad`, for people and logs; a token too short to hide anything shows nothing.
  public var redacted: String {
    guard bytes.count >= 32 else { return "…" }
    return Hex.encode(bytes.prefix(2)) + "…" + Hex.encode(bytes.suffix(2))
  }

  /// Reads a token as people and programs write it.
  ///
  /// Upper case, white space around it and one complete `<…>` of hexadecimal groups are canonicalised. Everything else
  /// is refused by name; nothing is ever removed from the middle of a bare token, since a shortened token is another
  /// device's or nobody's.
  public init(parsing text: String) throws(DeviceTokenError) {
    let source = Array(text.utf8)
    // Nearly all tokens are plain digits, and lists of them are long.
    if let bytes = Hex.decode(digits: source), (1...Self.maximumBytes).contains(bytes.count) {
      self.bytes = bytes
      return
    }
    let trimmed = Self.trim(source)
    guard !trimmed.isEmpty else { throw DeviceTokenError(.empty) }
    if let mistake = Self.knownMistake(trimmed) { throw DeviceTokenError(mistake) }
    var digits = trimmed
    if trimmed.first == UInt8(ascii: "<"), trimmed.last == UInt8(ascii: ">") {
      digits = trimmed.dropFirst().dropLast().filter { $0 != UInt8(ascii: " ") }
      guard !digits.isEmpty else { throw DeviceTokenError(.empty) }
    }
    guard digits.allSatisfy({ Hex.value(of: $0) != nil }) else {
      throw DeviceTokenError(Self.looksLikeBase64(digits) ? .base64 : .notHexadecimal)
    }
    guard digits.count % 2 == 0 else { throw DeviceTokenError(.oddLength) }
    guard digits.count <= 2 * Self.maximumBytes else { throw DeviceTokenError(.tooLong) }
    guard let bytes = Hex.decode(digits) else { throw DeviceTokenError(.notHexadecimal) }
    self.bytes = bytes
  }

  private static func trim(_ bytes: [UInt8]) -> [UInt8] {
    Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
  }

  private static func knownMistake(_ bytes: [UInt8]) -> DeviceTokenError.Kind? {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    if text.hasPrefix("{") { return .dataDescription }
    if ["(null)", "null", "nil", "undefined", "none", "<null>", "optional(nil)"].contains(text) { return .placeholder }
    if text.hasPrefix("http://") || text.hasPrefix("https://") || text.hasPrefix("/3/device/") { return .address }
    if text.contains(":") { return .fcmToken }
    if text.hasPrefix("0x") { return .prefixed }
    if isUUID(bytes) { return .uuid }
    let isBare = bytes.first != UInt8(ascii: "<")
    if isBare, bytes.contains(where: isSpace), bytes.allSatisfy({ isSpace($0) || Hex.value(of: $0) != nil }) {
      return .innerSpace
    }
    return nil
  }

  private static func isUUID(_ bytes: [UInt8]) -> Bool {
    guard bytes.count == 36 else { return false }
    return bytes.indices.allSatisfy { index in
      [8, 13, 18, 23].contains(index) ? bytes[index] == UInt8(ascii: "-") : Hex.value(of: bytes[index]) != nil
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private static func looksLikeBase64(_ bytes: [UInt8]) -> Bool {
    // Lower-case letters alone are a mistyped hexadecimal token, not base64.
    let isMixed = bytes.contains { !(0x30...0x39).contains($0) && !(0x61...0x7A).contains($0) }
    guard bytes.count >= 40, isMixed else { return false }
    let text = String(decoding: bytes, as: UTF8.self)
    return Base64.decode(text) != nil || Base64URL.decode(text) != nil
  }
}

/// Why a text is no APNs device token. Holds no part of the text.
public struct DeviceTokenError: CodedError, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    case empty, placeholder, dataDescription, fcmToken, address, uuid, base64, prefixed, innerSpace, notHexadecimal
    case oddLength, tooShort, tooLong
  }

  public let kind: Kind
  public let place: Place

  public init(_ kind: Kind, file: String = #fileID, line: Int = #line) {
    self.kind = kind
    self.place = Place(file: file, line: line)
  }

  public var code: String { "token_malformed" }

  public var message: String {
    switch kind {
    case .empty:
      "The device token is empty. Register only after the system has given the app a token."
    case .placeholder:
      "This is the word for a missing value, not a token. Register only after the system has given the app a token."
    case .dataDescription:
      "This is a printed Data object, not a token. In Swift: deviceToken.map { String(format: \"%02x\", $0) }.joined()"
    case .fcmToken:
      "This looks like an FCM registration token. Send the APNs token that the app delegate receives."
    case .address:
      "This is an address, not a token. Send the token alone; a Web Push endpoint belongs to another provider."
    case .uuid:
      "This is a UUID, such as identifierForVendor, not a token. Send what the system gives the app delegate."
    case .prefixed:
      "A device token is written without 0x; nothing was removed from it."
    case .innerSpace:
      "There is white space inside the token, as after a line break; nothing was removed from it. Send it in one piece."
    case .base64:
      "This looks like base64. Send the token as hexadecimal digits, two for each byte."
    case .notHexadecimal:
      "A device token has only hexadecimal digits (0-9, a-f); nothing was removed from it."
    case .oddLength:
      "A device token has two hexadecimal digits for each byte; this one has an odd number. Check that it was not cut."
    case .tooShort:
      "This is too short for a device token; it was probably cut. Send all the digits that the app was given."
    case .tooLong:
      "A device token has at most \(2 * DeviceToken.maximumBytes) hexadecimal digits."
    }
  }

  public static func == (left: DeviceTokenError, right: DeviceTokenError) -> Bool {
    left.kind == right.kind
  }
}
