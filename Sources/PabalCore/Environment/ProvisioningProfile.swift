package import PabalModel

/// Reads from a build's `embedded.mobileprovision` which of Apple's services will accept its tokens.
///
/// The file is a signed envelope around a property list in clear text. App Store and TestFlight builds have no such
/// file: they are production.
package enum ProvisioningProfile {
  /// `nil` when the profile has no push entitlement or is not understood.
  package static func apnsEnvironment(in profile: [UInt8]) -> PushEnvironment? {
    let key = Array("<key>aps-environment</key>".utf8)
    guard let found = position(of: key, in: profile, from: 0) else { return nil }
    let open = Array("<string>".utf8)
    guard let start = position(of: open, in: profile, from: found + key.count),
      let end = position(of: Array("</string>".utf8), in: profile, from: start)
    else { return nil }
    switch String(decoding: profile[(start + open.count)..<end], as: UTF8.self) {
    case "development": return .sandbox
    case "production": return .production
    default: return nil
    }
  }

  private static func position(of needle: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= needle.count, start <= bytes.count - needle.count else { return nil }
    return (start...(bytes.count - needle.count)).first { bytes[$0..<($0 + needle.count)].elementsEqual(needle) }
  }
}
