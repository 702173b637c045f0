import PabalPrimitives
import TLS
import TestSupport
import Testing

@Suite("TLS contexts")
struct TLSContextTests {
  @Test("a list of authorities counts as a whole: a damaged one in the middle is an error")
  func damagedList() throws {
    let (first, last) = (try TestAuthority(), try TestAuthority())
    let damaged = Array("-----BEGIN CERTIFICATE-----\nMIIBAAAA\n-----END CERTIFICATE-----\n".utf8)
    let error = #expect(throws: TLSError.self) {
      try TLSClientContext(trust: .authorities(pem: first.authorityPEM + damaged + last.authorityPEM))
    }
    #expect(error?.kind == .badCertificate)
    #expect(error?.message.hasPrefix("Certificate 2 ") == true, "\(error.map { "\($0)" } ?? "")")
    // Words between the blocks and after them are no damage.
    let words = Array("issued for the tests\n".utf8)
    _ = try TLSClientContext(
      trust: .authorities(pem: words + first.authorityPEM + words + last.authorityPEM + words))
  }

  @Test("an encrypted server key is refused at once; nobody is asked for a passphrase")
  func encryptedKey() throws {
    let authority = try TestAuthority()
    let error = #expect(throws: TLSError.self) {
      try TLSServerContext(certificatePEM: authority.certificatePEM, keyPEM: Array(Self.encryptedKey.utf8))
    }
    #expect(error?.kind == .badKey)
    #expect(error?.message.contains("unencrypted") == true)
  }

  /// Passphrase "sesame".
  private static let encryptedKey = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgMUC1FQCYqggICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEPj5Z+b4gBRGETrl0mzVmWEEgZCD
    xDlwLAV3P9ueKH7DUPwG8SkghkNzcQsq7NjfAH5qRx0xADpQ0vTYxcvdoZWksCuj
    h2GH1Q8uRiwTnkDXUqeCJKlRRrSXMgQiShB+w88clK5eWGbyTY3+fm/XUs+yj8b7
    EhFiTPDIwxr7pZlRNMh8zjpjcOhAjharRBHGMZXs5oaSA4KPzNv7+5Q7zKJWQrg=
    -----END ENCRYPTED PRIVATE KEY-----
    """
}
