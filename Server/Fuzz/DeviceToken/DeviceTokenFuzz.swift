import PabalModel
import PabalPrimitives

/// A device token as somebody typed or stored it.
enum DeviceTokenFuzz {
  static func run(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    do {
      let token = try DeviceToken(parsing: text)
      try demand((1...DeviceToken.maximumBytes).contains(token.bytes.count), "a token has a length within the limits")
      try demand(try DeviceToken(parsing: token.hex) == token, "a token's own spelling is that token")
      try demand(try DeviceToken(parsing: token.hex.uppercased()) == token, "case does not matter")
      let digits = text.lowercased().filter { $0.isHexDigit }
      try demand(digits == token.hex, "no digit is added or left out")
      try demand(Base64.decode(Base64.encode(token.bytes)) == token.bytes, "bytes survive base64")
      try demand(Base64URL.decode(Base64URL.encode(token.bytes)) == token.bytes, "bytes survive base64url")
    } catch let error as DeviceTokenError {
      try demand(!error.message.isEmpty, "a refusal says why")
    }
  }
}
