import APNs
import PabalPrimitives
import Simulator

/// A provider token: what the stand-in takes for one, our own reader reads alike.
enum ProviderTokenFuzz {
  static func run(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    let ours = try? ProviderToken.inspect(text)
    guard let theirs = StandInParsing.providerToken(text) else { return }
    try demand(ours?.algorithm == "ES256", "the stand-in takes ES256 only")
    try demand(ours?.keyID == theirs.keyID && ours?.teamID == theirs.teamID, "both read the same ids")
    try demand(ours?.issuedAt.seconds == theirs.issuedAt, "both read the same time")
  }
}
