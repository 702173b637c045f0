import Cryptography
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The folder that outlives a stand-in: its authority, its signing key and a client certificate.
///
/// `ca.pem`, `ca-key.pem`, `AuthKey_<KEYID>.p8`, `push.p12`, `push-cert.pem` and `push-key.pem`, each 0600 in a folder
/// of 0700. Clients that trusted the authority and signed with the key go on doing so after a restart.
struct StandInFolder {
  struct SigningKey {
    let keyID: String
    let path: String
    let key: P256SigningKey
  }

  /// Absolute, so that what is printed holds in another folder too.
  let path: String

  init(path: String) throws(StandInError) {
    let path = try Self.absolute(path)
    self.path = path
    var parent = ""
    for part in path.split(separator: "/") {
      parent += "/\(part)"
      if mkdir(parent, 0o700) != 0, errno != EEXIST {
        throw StandInError(.dataFolder, "The folder \(parent) cannot be made (\(Self.reason())); choose another.")
      }
    }
  }

  var authorityPath: String { "\(path)/ca.pem" }

  /// The authority of the folder, made at the first call.
  func authority(now: WallTime) throws(StandInError) -> CertificateAuthority {
    let keyPath = "\(path)/ca-key.pem"
    do {
      if let certificate = try read(authorityPath), let key = try read(keyPath) {
        return try CertificateAuthority(certificatePEM: certificate, keyPEM: key)
      }
      let authority = try CertificateAuthority.make(commonName: "Pabal stand-in authority", now: now)
      try write(try authority.keyPEM(), to: keyPath)
      try write(authority.certificatePEM, to: authorityPath)
      return authority
    } catch let error as StandInError {
      throw error
    } catch {
      throw StandInError(
        .credentials, "The authority in \(path) cannot be used; remove ca.pem and ca-key.pem to have a new one made.",
        cause: error)
    }
  }

  /// The signing key of the folder, made at the first call.
  func signingKey(_ randomness: Randomness) throws(StandInError) -> SigningKey {
    let (prefix, suffix) = ("AuthKey_", ".p8")
    let names = try list().filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }.sorted()
    do {
      if let name = names.first, let text = try read("\(path)/\(name)") {
        let keyID = String(name.dropFirst(prefix.count).dropLast(suffix.count))
        guard keyID.utf8.count == 10 else {
          throw StandInError(.credentials, "\(path)/\(name) is not named after a key id of ten characters; rename it.")
        }
        return SigningKey(keyID: keyID, path: "\(path)/\(name)", key: try P256SigningKey(pem: text))
      }
      let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
      let keyID = String(decoding: randomness.fill(10).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
      let key = try P256SigningKey.generate()
      let file = "\(path)/\(prefix)\(keyID)\(suffix)"
      try write(try key.pkcs8PEM(), to: file)
      return SigningKey(keyID: keyID, path: file, key: key)
    } catch let error as StandInError {
      throw error
    } catch {
      throw StandInError(
        .credentials, "The signing key in \(path) cannot be used; remove the .p8 file to have a new one made.",
        cause: error)
    }
  }

  /// The files of a client certificate for an app.
  struct ClientCertificate {
    let p12Path: String
    let certificatePath: String
    let keyPath: String
  }

  /// Made at the first call, and again for another app, another authority, or when it has run out.
  func clientCertificate(
    for topic: String, by authority: CertificateAuthority, now: WallTime
  ) throws(StandInError) -> ClientCertificate {
    let files = ClientCertificate(
      p12Path: "\(path)/push.p12", certificatePath: "\(path)/push-cert.pem", keyPath: "\(path)/push-key.pem")
    do {
      if try isGood(files, for: topic, by: authority, now: now) { return files }
      let identity = try PushCertificate.issue(by: authority, topic: topic, now: now)
      // The certificate last: it is what the next start looks at.
      try write(try PKCS12.write(identity, passphrase: "", friendlyName: "Pabal stand-in"), to: files.p12Path)
      try write(Array(try identity.privateKey.pkcs8PEM().utf8), to: files.keyPath)
      try write(Array(identity.certificatePEM.utf8), to: files.certificatePath)
      return files
    } catch let error as StandInError {
      throw error
    } catch {
      throw StandInError(.credentials, "No client certificate could be issued for \(topic).", cause: error)
    }
  }

  private func isGood(
    _ files: ClientCertificate, for topic: String, by authority: CertificateAuthority, now: WallTime
  ) throws(StandInError) -> Bool {
    guard let text = try read(files.certificatePath), access(files.keyPath, R_OK) == 0,
      access(files.p12Path, R_OK) == 0
    else { return false }
    do {
      let chain = try X509Certificate.all(pem: Array(text.utf8))
      let issuer = try X509Certificate.all(pem: Array(authority.certificatePEM.utf8))
      guard chain.count == 2, chain[1].der == issuer.first?.der else { return false }
      let certificate = PushCertificate.read(chain[0].der)
      return certificate.topics.contains(topic) && certificate.notAfter > now.milliseconds
    } catch {
      // Not what we wrote: another is made in its place.
      return false
    }
  }

  private static func absolute(_ path: String) throws(StandInError) -> String {
    guard !path.hasPrefix("/") else { return path }
    guard let folder = getcwd(nil, 0) else {
      throw StandInError(.dataFolder, "The folder \(path) cannot be found (\(reason())); name it from / on.")
    }
    defer { free(folder) }
    let name = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
    return "\(String(cString: folder))/\(name)"
  }

  private func list() throws(StandInError) -> [String] {
    guard let folder = opendir(path) else {
      throw StandInError(.dataFolder, "The folder \(path) cannot be read (\(Self.reason())).")
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        names.append(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
      }
    }
    return names
  }

  /// The text of a file; `nil` if there is none.
  private func read(_ file: String) throws(StandInError) -> String? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw StandInError(.dataFolder, "\(file) cannot be read (\(Self.reason())).")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16 * 1024)
    let capacity = bytes.count
    let count = Self.read(descriptor, &bytes, capacity)
    guard count >= 0, count < capacity else {
      throw StandInError(.dataFolder, "\(file) cannot be read, or is longer than any key.")
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private static func read(_ descriptor: CInt, _ bytes: inout [UInt8], _ capacity: Int) -> Int {
    var total = 0
    while total < capacity {
      let count = bytes.withUnsafeMutableBytes { buffer in
        #if canImport(Darwin)
        Darwin.read(descriptor, buffer.baseAddress?.advanced(by: total), capacity - total)
        #else
        Glibc.read(descriptor, buffer.baseAddress?.advanced(by: total), capacity - total)
        #endif
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? -1 : total }
      total += count
    }
    return total
  }

  /// Writes a new file, whole or not at all: another name first, then a rename.
  private func write(_ text: String, to file: String) throws(StandInError) {
    try write(Array(text.utf8), to: file)
  }

  private func write(_ bytes: [UInt8], to file: String) throws(StandInError) {
    let draft = "\(file).new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StandInError(.dataFolder, "\(draft) cannot be written (\(Self.reason())).")
    }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { buffer in
        #if canImport(Darwin)
        Darwin.write(descriptor, buffer.baseAddress, buffer.count)
        #else
        Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        #endif
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      written += count
    }
    let synced = fsync(descriptor) == 0
    close(descriptor)
    guard written == bytes.count, synced, rename(draft, file) == 0 else {
      throw StandInError(.dataFolder, "\(file) cannot be written (\(Self.reason())).")
    }
  }

  private static func reason() -> String {
    String(cString: strerror(errno))
  }
}
