import Cryptography
import PabalPrimitives
import Testing

/// A signing key in the shapes in which people hand it over.
@Suite struct PastedKeyTests {
  private static let body = SampleKeys.pkcs8.split(separator: "\n").dropFirst().dropLast().joined()
  private static let der = Base64.decode(body) ?? []
  private static let bodyLines = SampleKeys.pkcs8.split(separator: "\n")[1...3].joined(separator: "\n")
  /// Little-endian, with its mark.
  private static let utf16: [UInt8] = ("\u{FEFF}" + SampleKeys.pkcs8).utf16.flatMap { (unit) -> [UInt8] in
    [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
  }
  private static let oneLine = String(SampleKeys.pkcs8.dropLast()).replacing("\n", with: "\\n")

  private static let shapes: [(name: String, bytes: [UInt8])] = [
    ("as downloaded", text(SampleKeys.pkcs8)),
    ("SEC1 after curve parameters", text(SampleKeys.sec1WithParameters)),
    ("CRLF", text(SampleKeys.pkcs8.replacing("\n", with: "\r\n"))),
    ("byte-order mark and blank lines", text("\u{FEFF}\n\n\(SampleKeys.pkcs8)\n \n")),
    ("without BEGIN and END", text(body)),
    ("without BEGIN and END, in lines", text(bodyLines)),
    ("line ends as two characters", text(oneLine)),
    ("line ends as four characters", text(oneLine.replacing("\\n", with: "\\r\\n"))),
    ("in double quotes", text("\"\(oneLine)\"")),
    ("in single quotes, over lines", text("'\(SampleKeys.pkcs8)'\n")),
    ("quotes over lines", text("\"\(SampleKeys.pkcs8)\";\n")),
    ("JSON string with escaped slashes", text("\"\(oneLine.replacing("/", with: "\\/"))\"\n")),
    ("a line of an environment file", text("APNS_KEY=\"\(oneLine)\"\n")),
    ("DER", der),
    ("base64 of the whole file", text(Base64.encode(text(SampleKeys.pkcs8)))),
    ("base64url", text(Base64URL.encode(der))),
    ("UTF-16 with its mark", utf16),
  ]

  @Test("each shape loads to the same key") func shapes() throws {
    for (name, bytes) in Self.shapes {
      let key = try P256SigningKey(reading: bytes)
      #expect(Hex.encode(key.publicKey.x963) == SampleKeys.publicPoint, "\(name)")
    }
  }

  @Test("SEC1 in DER has no high length byte and loads too") func shortDER() throws {
    let minimal = try SampleKeys.pkcs8(parameters: false, publicKey: false)
    let der = try #require(Base64.decode(minimal.split(separator: "\n")[1].filter { !$0.isWhitespace }))
    #expect(der.count < 0x80)
    #expect(Hex.encode(try P256SigningKey(reading: der).publicKey.x963) == SampleKeys.publicPoint)
  }

  @Test("what is no signing key is called by its name")
  func wrongKinds() throws {
    let certificate = try #require(X509Certificate.all(pem: Array(SampleIdentities.certificate.utf8)).first)
    let publicKey = try #require(Hex.decode(Self.spki + SampleKeys.publicPoint))
    let p12 = try #require(Base64.decode(SampleIdentities.modern))
    let cases: [(String, [UInt8], code: String, says: String)] = [
      ("empty", [], "key_not_pem", "The key is empty"),
      ("blank", Self.text(" \n"), "key_not_pem", "The key is empty"),
      ("RSA", Self.text(SampleKeys.rsa), "key_wrong_type", "found RSA, 1024 bits"),
      ("P-384", Self.text(SampleKeys.p384), "key_wrong_type", "secp384r1"),
      ("certificate", Self.text(SampleIdentities.certificate), "key_wrong_type", "a certificate"),
      ("certificate, binary", certificate.der, "key_wrong_type", "a certificate"),
      ("public key", publicKey, "key_wrong_type", "a public key"),
      ("public key in base64", Self.text(Base64.encode(publicKey)), "key_wrong_type", "a public key"),
      (".p12", p12, "key_wrong_type", "a .p12"),
      ("encrypted", Self.text(SampleKeys.encryptedPKCS8), "key_encrypted", "openssl pkcs8"),
      ("encrypted as of old", Self.text(SampleKeys.encryptedSEC1), "key_encrypted", "openssl pkcs8"),
      ("OpenSSH", Self.text(Self.openSSH), "key_wrong_type", "an OpenSSH private key"),
      ("SSH public key", Self.text("ssh-rsa AAAAB3NzaC1yc2E"), "key_not_pem", "SSH public key"),
      ("provider token", Self.text("eyJhbGciOiJFUzI1NiJ9.e30.AA"), "key_not_pem", "provider token"),
      ("web page", Self.text("<!DOCTYPE html><html>"), "key_not_pem", "web page"),
      ("file name", Self.text("keys/AuthKey_KEY1234567.p8\n"), "key_not_pem", "name of a file"),
      ("JSON object", Self.text(#"{"key":"x"}"#), "key_not_pem", "JSON object"),
      ("typographic dashes", Self.text("—–BEGIN PRIVATE KEY—–\nMIG"), "key_not_pem", "dashes"),
      ("text", Self.text("hello world"), "key_not_pem", "not PEM"),
      ("noise", [0x00, 0xFF, 0xC0], "key_not_pem", "binary"),
      ("cut short", Self.text(String(SampleKeys.pkcs8.prefix(150))), "key_malformed", "END PRIVATE KEY"),
      ("too long", [UInt8](repeating: 0x41, count: 70_000), "key_not_pem", "70000 bytes"),
    ]
    for (name, bytes, code, says) in cases {
      let error = #expect(throws: CryptographyError.self, "\(name)") { try P256SigningKey(reading: bytes) }
      #expect(error?.code == code, "\(name)")
      #expect(error?.message.contains(says) == true, "\(name): \(error?.message ?? "")")
    }
  }

  @Test("OC-84 no part of a key is in an error about it") func errorsAreSilent() throws {
    let broken = SampleKeys.pkcs8.replacing("MIGH", with: "MIGI")
    let error = #expect(throws: CryptographyError.self) { try P256SigningKey(reading: Array(broken.utf8)) }
    let said = try #require(error.map { "\($0) \($0.message)" })
    for line in broken.split(separator: "\n") where !line.hasPrefix("-") { #expect(!said.contains(line.prefix(12))) }
  }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static let spki = "3059301306072a8648ce3d020106082a8648ce3d030107034200"
  private static let openSSH = """
    -----BEGIN OPENSSH PRIVATE KEY-----
    b3BlbnNzaC1rZXktdjEAAAAABG5vbmU=
    -----END OPENSSH PRIVATE KEY-----
    """
}
