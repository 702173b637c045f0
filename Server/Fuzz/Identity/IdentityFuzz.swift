import APNs
import Cryptography
import PabalPrimitives

/// A .p12, a certificate in DER, and the DER of an extension.
enum IdentityFuzz {
  static func run(_ bytes: [UInt8]) throws {
    // The legacy provider is left out: loading it for each input would be all the work.
    if let identity = try? PKCS12.read(
      bytes, passphrase: bytes.count.isMultiple(of: 2) ? "secret" : nil, providerFolder: "/nowhere")
    {
      try read(identity)
    }
    if let certificate = try? X509Certificate(der: bytes) { try read(certificate) }
    walk(DERReader(bytes), depth: 0)
  }

  static func read(_ identity: CertificateIdentity) throws {
    try read(identity.leaf)
    try demand(identity.certificatesDER.first == identity.leaf.der, "the leaf comes first")
    let certificate = try? APNsCertificateCredential(identity: identity, now: WallTime(seconds: 1_800_000_000))
    if let certificate { try demand(!certificate.topics.isEmpty, "a certificate for pushes has a topic") }
  }

  static func read(_ certificate: X509Certificate) throws {
    _ = (certificate.commonName, certificate.userID, certificate.organizationalUnit, certificate.issuerCommonName)
    _ = (try? certificate.notBefore, try? certificate.notAfter)
    let again = try X509Certificate.all(pem: Array(certificate.pem.utf8))
    try demand(again.map(\.der) == [certificate.der], "a certificate survives being written")
  }

  private static func walk(_ reader: DERReader, depth: Int) {
    guard depth < 16 else { return }
    var reader = reader
    while let element = reader.next() {
      _ = element.text
      if element.tag & 0x20 != 0 { walk(DERReader(element.content), depth: depth + 1) }
    }
  }
}
