import APNs
import ArgumentParsing
import Cryptography

/// `--p8`, `--key-id` and `--team`.
enum SendCredential {
  /// An authentication key has some 250 bytes.
  private static let keyBytes = 65_536

  /// - Returns: the credential, and a warning when the file's name speaks against the flags.
  static func read(
    _ command: ParsedCommand, environment: [String: String]
  ) throws -> (APNsCredential, String?) {
    let (credential, warning) = try token(command, environment: environment)
    return (.token(credential), warning)
  }

  /// As `read`, for what signs.
  static func token(
    _ command: ParsedCommand, environment: [String: String]
  ) throws -> (APNsTokenCredential, String?) {
    let path = try command.required(SendOptions.p8)
    let team = try command.required(SendOptions.team)
    let name = String(path.split(separator: "/").last ?? "")
    let named = APNsTokenCredential.keyID(fromFileName: name)
    guard let keyID = command.value(SendOptions.keyID) ?? named else {
      throw UsageError("--key-id is missing: the name \(name) does not tell it as AuthKey_<ID>.p8 does.")
    }
    if let named, named == team, keyID != named {
      throw UsageError("Key id and team id look swapped: the file is called \(name), and --team is \(team).")
    }
    let pem = try InputFile.contents(of: path, what: "The key", limit: keyBytes)
    let key: P256SigningKey
    do {
      key = try P256SigningKey(reading: pem)
    } catch {
      throw UsageError("The key \(path): \(error.message)", code: error.code)
    }
    let warning = named.flatMap { named in
      named == keyID
        ? nil
        : "The file is called \(name), but --key-id is \(keyID). If APNs says InvalidProviderToken, look here first."
    }
    var credential = try APNsTokenCredential(teamID: team, keyID: keyID, signingKey: key)
    let shared = try SharedProviderToken(credential, environment: environment)
    credential.tokenSource = { now, unwanted in try shared.token(at: now, unwanted: unwanted) }
    return (credential, warning)
  }
}
