import APNs
import Cryptography
import PabalPrimitives

/// One provider token for both roads, and for the next process on the same data: APNs answers 429 to a key with many
/// new tokens in 20 minutes, so a server that restarts must not bring another one each time.
///
/// The file is sealed under the master key. What is found there is believed only if the key has signed it.
final class ProviderTokenShelf: Sendable {
  private let credential: APNsTokenCredential
  private let seal: AES256GCM
  private let folder: DataFolder
  private let current: Locked<String?>
  private let telemetry: ServerTelemetry

  private static let seat = Array("provider-token".utf8)

  init(_ credential: APNsTokenCredential, folder: DataFolder, masterKey: [UInt8], telemetry: ServerTelemetry) throws {
    self.credential = credential
    self.folder = folder
    self.telemetry = telemetry
    seal = try AES256GCM(key: HKDFSHA256.derive(from: masterKey, info: Array("pabal.provider-token.1".utf8)))
    var found: String?
    if let text = try DataFolder.read(folder.providerTokenPath), let box = Base64.decode(text) {
      do {
        found = String(decoding: try seal.open(box, for: Self.seat), as: UTF8.self)
      } catch {
        telemetry.stage("provider_token.unreadable", "The stored provider token cannot be opened; a new one is made")
      }
    }
    current = Locked(found)
  }

  /// The credential, its tokens from here.
  var sharing: APNsTokenCredential {
    var sharing = credential
    sharing.tokenSource = { now, unwanted in try self.token(at: now, unwanted: unwanted) }
    return sharing
  }

  private func token(at now: WallTime, unwanted: [String]) throws -> String {
    try current.withLock { current in
      if let token = current, !unwanted.contains(token), isGood(token, at: now) { return token }
      let token = try ProviderToken.mint(for: credential, issuedAt: now)
      current = token
      do {
        let box = try seal.seal(Array(token.utf8), for: Self.seat)
        try DataFolder.write(Array(Base64.encode(box).utf8), to: folder.providerTokenPath)
      } catch {
        telemetry.stage("provider_token.not_kept", "The provider token could not be stored; a restart makes a new one")
      }
      return token
    }
  }

  private func isGood(_ token: String, at now: WallTime) -> Bool {
    do {
      let contents = try ProviderToken.inspect(token)
      let age = contents.issuedAt.duration(to: now)
      return contents.keyID == credential.keyID && contents.teamID == credential.teamID && age >= .zero
        && age < ProviderTokenMachine.renewalAge
        && ProviderToken.isSigned(token, by: credential.signingKey.publicKey)
    } catch {
      // Whatever it was, it is no token: a new one takes its place.
      return false
    }
  }
}
