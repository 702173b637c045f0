package import APNs
internal import Cryptography
package import TLS

extension TLSClientContext {
  /// A context for one credential: a certificate is shown to APNs, a signing key is not needed here.
  package init(trust: TLSTrust = .system, credential: APNsCredential) throws {
    switch credential {
    case .token: try self.init(trust: trust)
    case .certificate(let certificate):
      let identity = certificate.identity
      try self.init(
        trust: trust,
        identity: TLSIdentity(
          certificates: identity.certificatesDER, privateKey: try identity.privateKey.pkcs8DER()))
    }
  }
}
