import Cryptography
import PabalPrimitives
import Testing

@Suite struct PEMIdentityTests {
  private let certificate = Array(SampleIdentities.certificate.utf8)
  private let issuer = Array(SampleIdentities.issuer.utf8)

  @Test("a key in each form belongs to the certificate")
  func keys() throws {
    for (key, passphrase) in [
      (SampleIdentities.key, nil), (SampleIdentities.encryptedKey, "secret"),
      (SampleIdentities.traditionalKey, "secret"),
      (SampleIdentities.traditionalKey.replacing("\n", with: "\r\n"), "secret"),
    ] {
      let identity = try PEMIdentity.read(certificate: certificate, key: Array(key.utf8), passphrase: passphrase)
      #expect(identity.leaf.userID == "com.example.app")
      #expect(identity.chain.isEmpty)
    }
  }

  @Test("certificates are ordered, whatever order they are in; the key may be among them")
  func order() throws {
    let text = SampleIdentities.issuer + SampleIdentities.key + SampleIdentities.certificate
    let identity = try PEMIdentity.read(certificate: Array(text.utf8))
    #expect(identity.leaf.commonName == "Apple Push Services: com.example.app")
    #expect(identity.chain.map(\.commonName) == ["Sample WWDR"])
    #expect(identity.certificatePEM == SampleIdentities.certificate + SampleIdentities.issuer)
    let foreign = try CertificateAuthority.make(commonName: "Foreign", now: WallTime(seconds: 1_800_000_000))
    let mixed = try PEMIdentity.read(certificate: Array((text + foreign.certificatePEM).utf8))
    #expect(mixed.certificatesDER == identity.certificatesDER)
  }

  @Test("what does not fit says what is wrong")
  func refusals() throws {
    let key = Array(SampleIdentities.key.utf8)
    let foreign = try PrivateKey.generate(.p256).pkcs8PEM()
    expect("certificate_key_mismatch", certificate, Array(foreign.utf8), says: "com.example.app")
    expect("certificate_key_mismatch", certificate, Array(SampleKeys.rsa.utf8), says: "RSA, 1024 bits")
    expect("certificate_malformed", key, key, says: "found a private key")
    expect("certificate_malformed", Array("hello".utf8), key, says: "BEGIN CERTIFICATE")
    expect(
      "certificate_malformed", Array("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----".utf8), key)
    expect("key_missing", certificate, nil, says: "a certificate and no private key")
    expect("key_missing", certificate, Array("hello".utf8), says: "not PEM")
    expect("passphrase_missing", certificate, Array(SampleIdentities.encryptedKey.utf8))
    expect("passphrase_missing", certificate, Array(SampleIdentities.traditionalKey.utf8))
    expect("passphrase_wrong", certificate, Array(SampleIdentities.encryptedKey.utf8), "wrong")
    expect("passphrase_wrong", certificate, Array(SampleIdentities.traditionalKey.utf8), "wrong")
  }

  @Test("facts of a certificate")
  func facts() throws {
    let leaf = try #require(X509Certificate.all(pem: certificate).first)
    #expect(try leaf.notBefore < WallTime(seconds: 1_900_000_000))
    #expect(try leaf.notAfter > WallTime(seconds: 4_900_000_000))
    #expect(leaf.extensionValue(oid: "1.2.840.113635.100.6.3.1") == DERWriter.null)
    #expect(leaf.extensionValue(oid: "1.2.840.113635.100.6.3.9") == nil)
    #expect(leaf.extensionValue(oid: "no oid") == nil)
    #expect(try leaf.fingerprint == Hex.encode(SHA256.hash(leaf.der)))
    #expect(try X509Certificate.all(pem: Array(leaf.pem.utf8)).map(\.der) == [leaf.der])
    let error = #expect(throws: CryptographyError.self) { try X509Certificate(der: leaf.der + [0]) }
    #expect(error?.code == "certificate_malformed")
  }

  @Test("DER is read to its end or not at all")
  func derBounds() {
    #expect(DERReader([0x30, 0x03, 0x0C, 0x01, 0x61]).all()?.first?.children?.first?.text == "a")
    let malformed: [[UInt8]] = [
      [0x30], [0x30, 0x01], [0x30, 0x80], [0x30, 0x81, 0x01, 0x00], [0x30, 0x82, 0x00, 0x81], [0x1F, 0x01, 0x00],
      [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x85, 1, 1, 1, 1, 1],
    ]
    for bytes in malformed { #expect(DERReader(bytes).all() == nil, "\(bytes)") }
    for count in [0, 127, 128, 255, 256, 70_000] {
      let content = [UInt8](repeating: 7, count: count)
      let element = DERReader(DERWriter.element(DERTag.octetString, content)).all()
      #expect(element?.count == 1)
      #expect(element?.first.map { Array($0.content) } == content)
    }
  }

  private func expect(
    _ code: String, _ certificate: [UInt8], _ key: [UInt8]?, _ passphrase: String? = nil, says: String = "",
    at location: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: CryptographyError.self, sourceLocation: location) {
      try PEMIdentity.read(certificate: certificate, key: key, passphrase: passphrase)
    }
    #expect(error?.code == code, sourceLocation: location)
    #expect(says.isEmpty || error?.message.contains(says) == true, sourceLocation: location)
  }
}
