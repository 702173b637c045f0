internal import Cryptography
internal import PabalModel

/// What Apple writes into a certificate for APNs.
///
/// Extensions under 1.2.840.113635.100.6.3: `1` marks the sandbox, `2` production, `4` lists topics for VoIP, `6` all
/// topics. A list is a SEQUENCE in which each topic (UTF8String) is followed by a SEQUENCE of its kinds. The subject's
/// `UID` is the app itself; MDM certificates have nothing else (Apple, "Sending notification requests to APNs").
struct APNsCertificateFacts {
  let topics: [Topic]
  let environments: Set<PushEnvironment>

  init(_ certificate: X509Certificate) {
    var names: [String] = []
    if let userID = certificate.userID { names.append(userID) }
    for list in ["6", "4"] {
      guard let value = certificate.extensionValue(oid: Self.base + list) else { continue }
      names += Self.topics(in: value)
    }
    var seen: Set<String> = []
    topics = names.filter { !$0.isEmpty && seen.insert($0).inserted }.map(Topic.init(rawValue:))
    var environments: Set<PushEnvironment> = []
    if certificate.extensionValue(oid: Self.base + "1") != nil { environments.insert(.sandbox) }
    if certificate.extensionValue(oid: Self.base + "2") != nil { environments.insert(.production) }
    self.environments = environments
  }

  private static let base = "1.2.840.113635.100.6.3."

  /// The texts of the outer SEQUENCE; one bare text is a topic as well. A malformed list has none.
  private static func topics(in value: [UInt8]) -> [String] {
    guard let elements = DERReader(value).all(), elements.count == 1, let list = elements.first else { return [] }
    if let text = list.text { return [text] }
    guard list.isSequence, let children = list.children else { return [] }
    return children.compactMap(\.text)
  }
}
