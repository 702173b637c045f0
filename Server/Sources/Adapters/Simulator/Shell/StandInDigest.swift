import Cryptography
import PabalPrimitives

/// What stands for a provider token in the wire log.
enum StandInDigest {
  static func hex(_ text: String) -> String {
    do {
      return Hex.encode(try SHA256.hash(Array(text.utf8)))
    } catch {
      // Only an OpenSSL without SHA-256 fails here; the log then keeps nothing rather than the secret.
      return "unavailable"
    }
  }
}
