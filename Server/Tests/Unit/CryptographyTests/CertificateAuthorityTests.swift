import Cryptography
import PabalPrimitives
import Testing

@Suite struct CertificateAuthorityTests {
  private let now = WallTime(milliseconds: 1_800_000_000_000)

  @Test func issuesAndReloads() throws {
    let authority = try CertificateAuthority.make(commonName: "Pabal test CA", now: now)
    #expect(authority.certificatePEM.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    let again = try CertificateAuthority(
      certificatePEM: authority.certificatePEM, keyPEM: try authority.keyPEM())
    let issued = try again.issueServerCertificate(
      commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1", "::1"], now: now)
    #expect(issued.certificatePEM != authority.certificatePEM)
    _ = try P256SigningKey(pem: issued.keyPEM)
  }

  @Test func refusesAForeignKeyAndAnUnreadableCertificate() throws {
    let authority = try CertificateAuthority.make(commonName: "Pabal test CA", now: now)
    let foreign = try P256SigningKey.generate().pkcs8PEM()
    let mismatch = #expect(throws: CryptographyError.self) {
      try CertificateAuthority(certificatePEM: authority.certificatePEM, keyPEM: foreign)
    }
    #expect(mismatch?.code == "certificate_key_mismatch")
    let malformed = #expect(throws: CryptographyError.self) {
      try CertificateAuthority(certificatePEM: "nothing", keyPEM: foreign)
    }
    #expect(malformed?.code == "certificate_malformed")
  }

  @Test func refusesNamesThatWouldSmuggleAnotherName() throws {
    let authority = try CertificateAuthority.make(commonName: "Pabal test CA", now: now)
    for names in [[], ["a,DNS:b"], ["a b"], [""]] {
      #expect(throws: CryptographyError.self) {
        try authority.issueServerCertificate(commonName: "x", dnsNames: names, ipAddresses: [], now: now)
      }
    }
    #expect(throws: CryptographyError.self) {
      try authority.issueServerCertificate(commonName: "x", dnsNames: [], ipAddresses: ["not an address"], now: now)
    }
  }
}
