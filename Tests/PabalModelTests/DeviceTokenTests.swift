import PabalModel
import PabalPrimitives
import Testing

@Suite("Device tokens")
struct DeviceTokenTests {
  private static let plain = String(repeating: "abcd1234", count: 8)

  @Test("OC-38 Length is not fixed", arguments: [64, 108, 160, 200])
  func lengths(count: Int) throws {
    let text = String(repeating: "a", count: count)
    #expect(try DeviceToken(parsing: text).hex == text)
  }

  @Test(
    "OC-38 What cannot be a token is refused with its reason",
    arguments: [
      (String(repeating: "a", count: 63), DeviceTokenError.Kind.oddLength), ("", .empty),
      (String(repeating: "a", count: 63) + "g", .notHexadecimal), (String(repeating: "a", count: 4096), .tooLong),
    ])
  func refusedLengths(text: String, kind: DeviceTokenError.Kind) {
    #expect(throws: DeviceTokenError(kind)) { try DeviceToken(parsing: text) }
  }

  @Test(
    "OC-39 One device, one spelling",
    arguments: [
      plain, plain.uppercased(), "<" + String(repeating: "abcd1234 ", count: 7) + "abcd1234>", plain + "\n",
      "  " + plain + "\t",
    ])
  func canonical(text: String) throws {
    #expect(try DeviceToken(parsing: text).hex == Self.plain)
  }

  @Test("OC-41 A printed Data object is refused, never shortened")
  func dataDescription() {
    #expect(throws: DeviceTokenError(.dataDescription)) {
      try DeviceToken(parsing: "{length=32,bytes=0x0011223344556677...8899aabbccddeeff}")
    }
  }

  @Test(
    "OC-42 Nothing is cleaned into a token",
    arguments: [
      ("(null)", DeviceTokenError.Kind.placeholder), ("undefined", .placeholder), ("deadbeefzz", .notHexadecimal),
      (String(repeating: " ", count: 64), .empty), ("dead beef", .innerSpace), ("<>", .empty),
      ("<deadbeef", .notHexadecimal),
    ])
  func sanitising(text: String, kind: DeviceTokenError.Kind) {
    #expect(throws: DeviceTokenError(kind)) { try DeviceToken(parsing: text) }
  }

  @Test("Other services' tokens are named")
  func otherServices() {
    #expect(throws: DeviceTokenError(.fcmToken)) { try DeviceToken(parsing: "AbC:APA91bExample") }
    #expect(throws: DeviceTokenError(.base64)) {
      try DeviceToken(parsing: Base64.encode([UInt8](repeating: 0xFB, count: 32)))
    }
  }

  @Test(
    "Classic mistakes are called by their name",
    arguments: [
      (" Optional(nil) ", DeviceTokenError.Kind.placeholder), ("0xdeadbeef", .prefixed),
      ("https://web.push.apple.com/QaBC", .address), ("/3/device/deadbeef", .address),
      ("E621E1F8-C36C-495A-93FC-0C247A3E6E5F", .uuid), (plain + "\n" + plain, .innerSpace),
      ("dead\u{A0}beef", .notHexadecimal),
    ])
  func classicMistakes(text: String, kind: DeviceTokenError.Kind) {
    #expect(throws: DeviceTokenError(kind)) { try DeviceToken(parsing: text) }
  }

  @Test("OC-84 People see four digits at each end, and nothing of a short one")
  func redaction() throws {
    #expect(try DeviceToken(parsing: Self.plain).redacted == "abcd…1234")
    #expect(try DeviceToken(parsing: "abcd").redacted == "…")
  }

  @Test("Each mistake has its own advice, and none repeats the text")
  func advice() {
    let messages = DeviceTokenError.Kind.allCases.map { DeviceTokenError($0).message }
    #expect(Set(messages).count == messages.count)
  }
}
