import Cryptography
import PabalPrimitives
import Testing

@Suite struct PKCS12Tests {
  private let now = WallTime(milliseconds: 1_800_000_000_000)

  @Test(
    "files of today and of old open, with a passphrase and without",
    arguments: [
      ("AES", SampleIdentities.modern, "secret", 1), ("RC2 and triple DES", SampleIdentities.legacy, "secret", 0),
      ("RC2, empty passphrase", SampleIdentities.legacyEmpty, nil, 0),
      ("AES, absent passphrase", SampleIdentities.empty, nil, 0),
      ("AES, empty passphrase", SampleIdentities.empty, "", 0), ("nothing encrypted", SampleIdentities.plain, nil, 0),
    ])
  func opens(name: String, file: String, passphrase: String?, chain: Int) throws {
    let identity = try PKCS12.read(try #require(Base64.decode(file)), passphrase: passphrase)
    #expect(identity.leaf.userID == "com.example.app")
    #expect(identity.leaf.commonName == "Apple Push Services: com.example.app")
    #expect(identity.leaf.organizationalUnit == "TEAM123456")
    #expect(identity.leaf.issuerCommonName == "Sample WWDR")
    #expect(identity.chain.count == chain)
  }

  @Test("what does not open says why")
  func refusals() throws {
    try expect("passphrase_wrong", SampleIdentities.modern, "wrong")
    try expect("passphrase_wrong", SampleIdentities.legacy, "wrong")
    try expect("passphrase_missing", SampleIdentities.modern, nil)
    try expect("passphrase_missing", SampleIdentities.modern, "")
    try expect("p12_passphrase_unneeded", SampleIdentities.empty, "secret")
    #expect(try expect("p12_without_key", SampleIdentities.withoutKey, "secret").contains("Keychain Access"))
    try expect("p12_without_certificate", SampleIdentities.withoutCertificate, "secret")
    try expect("p12_malformed", "", nil)
    #expect(try expect("p12_malformed", Base64.encode(Array(SampleIdentities.key.utf8)), nil).contains("PEM text"))
    try expect("p12_malformed", Base64.encode(Array("MIIG".utf8)), nil)
    let whole = try #require(Base64.decode(SampleIdentities.modern))
    try expect("p12_malformed", Base64.encode([UInt8](whole.prefix(whole.count / 2))), "secret")
    try expect("p12_malformed", Base64.encode([0x30] + [UInt8](repeating: 0, count: 1024 * 1024)), nil)
  }

  @Test("OC-08 an absent and an empty passphrase are one; a wrong one is called so") func absentAndEmpty() throws {
    let authority = try CertificateAuthority.make(commonName: "CA", now: now)
    let identity = try authority.issueClientCertificate(
      commonName: "Apple Push Services: a.b", userID: "a.b", key: .p256, now: now)
    let locked = Base64.encode(
      try PKCS12.write(identity, passphrase: "x", friendlyName: "push", algorithms: .modern))
    for open in [SampleIdentities.plain, SampleIdentities.empty] {
      for passphrase in [nil, ""] as [String?] {
        let identity = try PKCS12.read(try #require(Base64.decode(open)), passphrase: passphrase)
        #expect(identity.leaf.userID == "com.example.app")
      }
    }
    // Nothing of the file without MAC and encryption can prove a passphrase wrong.
    for passphrase in ["x", "y"] { try expect("p12_passphrase_unneeded", SampleIdentities.empty, passphrase) }
    #expect(try PKCS12.read(try #require(Base64.decode(locked)), passphrase: "x").leaf.userID == "a.b")
    try expect("passphrase_missing", locked, nil)
    try expect("passphrase_missing", locked, "")
    try expect("passphrase_wrong", locked, "y")
  }

  @Test("OC-07 without OpenSSL's legacy provider an old file names the remedy, a new one opens; no wrong passphrase")
  func legacyProviderAbsent() throws {
    let old = try #require(Base64.decode(SampleIdentities.legacy))
    let error = #expect(throws: CryptographyError.self) {
      try PKCS12.read(old, passphrase: "secret", providerFolder: "/nowhere")
    }
    #expect(error?.code == "p12_legacy_unsupported")
    #expect(error?.message.contains("RC2") == true)
    #expect(error?.message.contains("openssl-provider-legacy") == true)
    _ = try PKCS12.read(
      try #require(Base64.decode(SampleIdentities.modern)), passphrase: "secret", providerFolder: "/nowhere")
  }

  @Test("two keys are one too many") func severalKeys() throws {
    let keys = try (0..<2).map { _ in try PrivateKey.generate(.p256).pkcs8DER() }
    let error = #expect(throws: CryptographyError.self) { try PKCS12.read(Self.file(of: keys)) }
    #expect(error?.code == "p12_several_keys")
    #expect(error?.message.contains("2 private keys") == true)
  }

  @Test("what is written is read again, by both ages", arguments: [true, false])
  func writes(isLegacy: Bool) throws {
    let authority = try CertificateAuthority.make(commonName: "CA", now: now)
    let identity = try authority.issueClientCertificate(
      commonName: "Apple Push Services: a.b", userID: "a.b", key: isLegacy ? .rsa2048 : .p256, now: now)
    for passphrase in ["", "암호"] {
      let file = try PKCS12.write(
        identity, passphrase: passphrase, friendlyName: "push", algorithms: isLegacy ? .legacy : .modern)
      let again = try PKCS12.read(file, passphrase: passphrase)
      #expect(again.leaf.der == identity.leaf.der)
      #expect(again.chain.map(\.der) == identity.chain.map(\.der))
      #expect(try again.privateKey.pkcs8DER() == identity.privateKey.pkcs8DER())
    }
  }

  @discardableResult
  private func expect(
    _ code: String, _ base64: String, _ passphrase: String?, at location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let bytes = try #require(Base64.decode(base64))
    let error = #expect(throws: CryptographyError.self, sourceLocation: location) {
      try PKCS12.read(bytes, passphrase: passphrase)
    }
    #expect(error?.code == code, sourceLocation: location)
    return error?.message ?? ""
  }

  /// A .p12 without MAC and encryption (RFC 7292 section 4) that no tool writes.
  private static func file(of keys: [[UInt8]]) -> [UInt8] {
    let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    let keyBag: [UInt8] = [0x06, 0x0B, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, 0x01]
    let content = { (bytes: [UInt8]) in
      DERWriter.sequence([data, DERWriter.element(0xA0, DERWriter.element(DERTag.octetString, bytes))])
    }
    let bags = DERWriter.sequence(keys.map { DERWriter.sequence([keyBag, DERWriter.element(0xA0, $0)]) })
    return DERWriter.sequence([
      DERWriter.element(DERTag.integer, [3]), content(DERWriter.sequence([content(bags)])),
    ])
  }
}
