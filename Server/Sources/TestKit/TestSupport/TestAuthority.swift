package import Cryptography
package import PabalPrimitives
package import TLS

/// A private authority and one server certificate, for tests over real TLS.
package struct TestAuthority: Sendable {
  package let authorityPEM: [UInt8]
  package let certificatePEM: [UInt8]
  package let keyPEM: [UInt8]

  /// The certificate is for `localhost`, 127.0.0.1 and ::1 unless told otherwise, and valid at `now`.
  package init(
    dnsNames: [String] = ["localhost"], ipAddresses: [String] = ["127.0.0.1", "::1"],
    now: WallTime = Clock.system.wall()
  ) throws(CryptographyError) {
    let authority = try CertificateAuthority.make(commonName: "Pabal test authority", now: now)
    let issued = try authority.issueServerCertificate(
      commonName: "Pabal test server", dnsNames: dnsNames, ipAddresses: ipAddresses, now: now)
    authorityPEM = Array(authority.certificatePEM.utf8)
    certificatePEM = Array(issued.certificatePEM.utf8)
    keyPEM = Array(issued.keyPEM.utf8)
  }

  /// Trusts this authority and no other.
  package func clientContext(alpn: [String] = ["h2"]) throws(TLSError) -> TLSClientContext {
    try TLSClientContext(trust: .authorities(pem: authorityPEM), alpn: alpn)
  }

  package func serverContext(
    alpn: [String] = ["h2"], withoutAgreement: TLSServerContext.WithoutAgreement = .refuse
  ) throws(TLSError) -> TLSServerContext {
    try TLSServerContext(
      certificatePEM: certificatePEM, keyPEM: keyPEM, alpn: alpn, withoutAgreement: withoutAgreement)
  }
}
