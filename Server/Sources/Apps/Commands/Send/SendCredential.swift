import APNs
import ArgumentParsing
import PabalPrimitives

/// `--p8` with `--key-id` and `--team`; or `--p12`; or `--cert` and `--key`.
enum SendCredential {
  /// An authentication key has some 250 bytes, a certificate with its chain a few thousand.
  private static let keyBytes = 65_536
  private static let certificateBytes = 1 << 20
  private static let passphraseBytes = 4096

  /// A credential as the flags name it, each with its path.
  enum Kind {
    case signingKey(String)
    case bundle(String)
    case certificate(String, key: String?)
  }

  /// Which it is, without a look at files.
  static func kind(_ command: ParsedCommand) throws(UsageError) -> Kind {
    let kinds = [SendOptions.p8, SendOptions.p12, SendOptions.cert].filter(command.isSet)
    guard kinds.count <= 1 else {
      throw UsageError("Give --\(kinds[0].name) or --\(kinds[1].name), not both: a push has one credential.")
    }
    guard let path = command.value(SendOptions.p12) ?? command.value(SendOptions.cert) else {
      try refuse([SendOptions.key, SendOptions.passphraseFile], goWith: "--p12, or --cert and --key", in: command)
      guard let path = command.value(SendOptions.p8) else {
        throw UsageError("--p8 is missing. Give the signing key, or --p12 FILE, or --cert FILE and --key FILE.")
      }
      return .signingKey(path)
    }
    try refuse([SendOptions.keyID, SendOptions.team], goWith: "--p8", in: command)
    guard command.isSet(SendOptions.p12) else { return .certificate(path, key: command.value(SendOptions.key)) }
    try refuse([SendOptions.key], goWith: "--cert", in: command)
    return .bundle(path)
  }

  /// - Returns: the credential, and warnings about it.
  static func read(_ command: ParsedCommand, _ context: CommandContext) throws -> (APNsCredential, [String]) {
    let loaded: APNsLoadedCredential
    switch try kind(command) {
    case .signingKey:
      let (credential, warning) = try token(command, environment: context.environment)
      return (.token(credential), [warning].compactMap { $0 })
    case .bundle(let path): loaded = try bundle(path, command, context)
    case .certificate(let path, let key): loaded = try certificate(path, key: key, command, context)
    }
    return (loaded.credential, loaded.warnings)
  }

  /// What signs, and a warning when the file's name speaks against the flags.
  ///
  /// - Parameter team: when no flag says it.
  static func token(
    _ command: ParsedCommand, environment: [String: String], team: String? = nil
  ) throws -> (APNsTokenCredential, String?) {
    let path = try command.required(SendOptions.p8)
    let team = try team ?? command.required(SendOptions.team)
    let bytes = try InputFile.contents(of: path, what: "The key", limit: keyBytes)
    let name = String(path.split(separator: "/").last ?? "")
    let keyID = command.value(SendOptions.keyID)
    guard keyID != nil || APNsTokenCredential.keyID(fromFileName: name) != nil else {
      throw UsageError(
        "--key-id is missing: the name \(name) does not tell it as AuthKey_<ID>.p8 does. It is listed at "
          + "developer.apple.com › Keys.")
    }
    let loaded: APNsLoadedCredential
    do {
      loaded = try APNsCredentialLoader.token(p8: bytes, fileName: name, keyID: keyID, teamID: team)
    } catch {
      throw UsageError("The key \(path): \(error.message)", code: error.code)
    }
    guard case .token(var credential) = loaded.credential else {
      preconditionFailure("a .p8 makes a signing credential")
    }
    let shared = try SharedProviderToken(credential, environment: environment)
    credential.tokenSource = { now, unwanted in try shared.token(at: now, unwanted: unwanted) }
    return (credential, loaded.warnings.isEmpty ? nil : loaded.warnings.joined(separator: " "))
  }

  private static func bundle(
    _ path: String, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> APNsLoadedCredential {
    let passphrase = try passphrase(command, context.environment)
    let now = context.clock.wall()
    let bytes = try InputFile.contents(of: path, what: "The certificate", limit: certificateBytes)
    return try named(path) { () throws(APNsCredentialError) in
      try APNsCredentialLoader.certificate(p12: bytes, passphrase: passphrase, now: now)
    }
  }

  private static func certificate(
    _ path: String, key: String?, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> APNsLoadedCredential {
    let passphrase = try passphrase(command, context.environment)
    let now = context.clock.wall()
    let bytes = try InputFile.contents(of: path, what: "The certificate", limit: certificateBytes)
    let key = try key.map { try InputFile.contents(of: $0, what: "The key", limit: keyBytes) }
    return try named(path) { () throws(APNsCredentialError) in
      try APNsCredentialLoader.certificate(pem: bytes, key: key, passphrase: passphrase, now: now)
    }
  }

  private static func named(
    _ path: String, _ load: () throws(APNsCredentialError) -> APNsLoadedCredential
  ) throws(UsageError) -> APNsLoadedCredential {
    do throws(APNsCredentialError) {
      return try load()
    } catch {
      let advice =
        error.code.hasPrefix("passphrase") ? " Give it with --passphrase-file FILE or in PABAL_PASSPHRASE." : ""
      throw UsageError("The certificate \(path): \(error.message)\(advice)", code: error.code)
    }
  }

  /// From a file, without its final line break, or from the environment; never from a flag, which a shell keeps.
  private static func passphrase(
    _ command: ParsedCommand, _ environment: [String: String]
  ) throws(UsageError) -> String? {
    guard let path = command.value(SendOptions.passphraseFile) else { return environment["PABAL_PASSPHRASE"] }
    let others = [SendOptions.payload, SendOptions.devicesFile]
    if path == "-", let other = others.first(where: { command.value($0) == "-" }) {
      throw UsageError("Standard input cannot be the passphrase and --\(other.name). Put one of them into a file.")
    }
    var bytes = try InputFile.contents(of: path, what: "The passphrase", limit: passphraseBytes)[...]
    if bytes.last == UInt8(ascii: "\n") { bytes = bytes.dropLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes = bytes.dropLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func refuse(
    _ options: [OptionDefinition], goWith others: String, in command: ParsedCommand
  ) throws(UsageError) {
    guard let option = options.first(where: command.isSet) else { return }
    throw UsageError("--\(option.name) goes with \(others).")
  }
}
