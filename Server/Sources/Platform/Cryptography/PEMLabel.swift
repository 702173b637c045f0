import PabalPrimitives

/// The words between the dashes of PEM (RFC 7468), and what people call what is under them.
enum PEMLabel {
  static let certificates = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]

  /// E.g. "a certificate" for `CERTIFICATE`; the label itself when it is unknown.
  static func words(for label: String) -> String {
    switch label {
    case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE": "a certificate"
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "a certificate signing request"
    case "PUBLIC KEY": "a public key"
    case "RSA PUBLIC KEY": "an RSA public key"
    case "PRIVATE KEY": "a private key"
    case "EC PRIVATE KEY": "an EC private key"
    case "RSA PRIVATE KEY": "an RSA private key"
    case "DSA PRIVATE KEY": "a DSA private key"
    case "OPENSSH PRIVATE KEY": "an OpenSSH private key"
    case "ENCRYPTED PRIVATE KEY": "an encrypted private key"
    case "EC PARAMETERS": "curve parameters without a key"
    case "PKCS7", "CMS": "a PKCS#7 bundle"
    default: "a PEM block \(label.prefix(40))"
    }
  }

  /// A block in lines of 64 characters.
  static func block(_ label: String, _ der: [UInt8]) -> String {
    let body = Array(Base64.encode(der).utf8)
    var text = "-----BEGIN \(label)-----\n"
    for start in stride(from: 0, to: body.count, by: 64) {
      text += String(decoding: body[start..<min(start + 64, body.count)], as: UTF8.self) + "\n"
    }
    return text + "-----END \(label)-----\n"
  }
}
