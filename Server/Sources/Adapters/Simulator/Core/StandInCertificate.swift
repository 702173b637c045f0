/// A client certificate as far as APNs looks at it. That it is of a known authority, TLS has checked.
///
/// Source: Apple, "Establishing a certificate-based connection to APNs"; the topics stand in the extensions
/// 1.2.840.113635.100.6.3.6 and .4, the environments are .1 (sandbox) and .2 (production).
package struct StandInCertificate: Sendable, Hashable {
  /// Every topic that may be used, suffixes included; empty when the certificate names none.
  package let topics: Set<String>
  package let environments: Set<StandInEnvironment>
  /// Milliseconds since 1970.
  package let notBefore: Int64
  package let notAfter: Int64

  package init(topics: Set<String>, environments: Set<StandInEnvironment>, notBefore: Int64, notAfter: Int64) {
    self.topics = topics
    self.environments = environments
    self.notBefore = notBefore
    self.notAfter = max(notBefore, notAfter)
  }

  var isForPushes: Bool { !topics.isEmpty && !environments.isEmpty }
}
