import APNs
import Cryptography
import PabalPrimitives

/// A .p12, a certificate in DER, and the DER of an extension.
enum IdentityFuzz {
  private static let passphrase = "secret"

  static func run(_ bytes: [UInt8]) throws {
    for given in [nil, passphrase] {
      // The legacy provider is left out: loading it for each input would be all the work.
      guard let identity = try? PKCS12.read(bytes, passphrase: given, providerFolder: "/nowhere") else { continue }
      try read(identity)
      let written = try PKCS12.write(identity, passphrase: passphrase, friendlyName: "")
      let again = try PKCS12.read(written, passphrase: passphrase)
      try demand(again.certificatesDER == identity.certificatesDER, "an identity survives being written")
    }
    if let certificate = try? X509Certificate(der: bytes) { try read(certificate) }
    try walk(bytes[...], depth: 0)
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

  private static func walk(_ bytes: ArraySlice<UInt8>, depth: Int) throws {
    guard depth < 16 else { return }
    var reader = DERReader(bytes)
    var start = bytes.startIndex
    while let element = reader.next() {
      let end = element.content.endIndex
      let written = DERWriter.element(element.tag, Array(element.content))
      try demand(written.elementsEqual(bytes[start..<end]), "a value is written as it was read")
      start = end
      _ = element.text
      if element.tag & 0x20 != 0 { try walk(element.content, depth: depth + 1) }
    }
  }
}
