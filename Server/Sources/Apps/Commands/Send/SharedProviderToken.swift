import APNs
import Cryptography
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// One provider token for all `pabal` processes of a user: APNs answers 429 to a key with many new tokens, and a shell
/// loop over `pabal send` would make one each time.
///
/// The file lies in `$XDG_RUNTIME_DIR/pabal`, else in `/tmp/pabal-UID`: mode 0600, in a folder with mode 0700, under a
/// name that tells nothing. What is found there is believed only if this key has signed it. Where no such folder can be
/// had, each process makes its own token, as any other client does.
struct SharedProviderToken: Sendable {
  /// As in `ProviderTokenMachine`: from here on a new one is due.
  private static let maximumAge = ProviderTokenMachine.renewalAge
  private static let fileBytes = 4096

  private let credential: APNsTokenCredential
  private let path: String?

  init(_ credential: APNsTokenCredential, environment: [String: String]) throws {
    self.credential = credential
    let name = try SHA256.hash(
      Array("\(credential.teamID)/\(credential.keyID)/".utf8) + credential.signingKey.publicKey.x963)
    path = Self.folder(environment).map { "\($0)/\(Hex.encode(name.prefix(16)))" }
  }

  /// A young token that is not among `unwanted`, from the file or new.
  func token(at now: WallTime, unwanted: [String]) throws -> String {
    guard let path else { return try ProviderToken.mint(for: credential, issuedAt: now) }
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return try ProviderToken.mint(for: credential, issuedAt: now) }
    defer { close(file) }
    // Processes that start together wait here for the first one's token.
    flock(file, LOCK_EX)
    if let found = contents(file), !unwanted.contains(found), isGood(found, at: now) { return found }
    let token = try ProviderToken.mint(for: credential, issuedAt: now)
    store(token, in: file)
    return token
  }

  private func isGood(_ token: String, at now: WallTime) -> Bool {
    do {
      let contents = try ProviderToken.inspect(token)
      let age = contents.issuedAt.duration(to: now)
      return contents.keyID == credential.keyID && contents.teamID == credential.teamID
        && age >= .zero && age < Self.maximumAge
        && ProviderToken.isSigned(token, by: credential.signingKey.publicKey)
    } catch {
      // Whatever stands in the file, it is no token: it will be overwritten.
      return false
    }
  }

  private func contents(_ file: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: Self.fileBytes)
    let count = pread(file, &bytes, bytes.count, 0)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }

  /// A failure leaves an unreadable token behind, which the next process replaces.
  private func store(_ token: String, in file: Int32) {
    let bytes = Array(token.utf8)
    guard ftruncate(file, 0) == 0 else { return }
    _ = pwrite(file, bytes, bytes.count, 0)
  }

  /// A folder that is this user's alone, or none.
  static func folder(_ environment: [String: String]) -> String? {
    let path = environment["XDG_RUNTIME_DIR"].map { "\($0)/pabal" } ?? "/tmp/pabal-\(getuid())"
    mkdir(path, 0o700)
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
      status.st_mode & 0o077 == 0
    else { return nil }
    return path
  }
}
