import APNs
import ArgumentParsing

/// The flags of `pabal send`.
enum SendOptions {
  static let p8 = OptionDefinition("p8", .value("FILE"), "APNs authentication key, as downloaded")
  static let keyID = OptionDefinition("key-id", .value("ID"), "its id; may be left out for AuthKey_<ID>.p8")
  static let team = OptionDefinition("team", .value("ID"), "team id, ten characters")
  static let p12 = OptionDefinition("p12", .value("FILE"), "certificate and key in one file, instead of --p8")
  static let cert = OptionDefinition("cert", .value("FILE"), "certificate as PEM, instead of --p8")
  static let key = OptionDefinition("key", .value("FILE"), "its key as PEM; may be left out when --cert holds it")
  static let passphraseFile = OptionDefinition(
    "passphrase-file", .value("FILE|-"), "passphrase of --p12 or --key; default: PABAL_PASSPHRASE, else none")
  static let topic = OptionDefinition("topic", .value("BUNDLE"), "bundle id of the app")
  static let device = OptionDefinition("device", .list("TOKEN"), "device tokens")
  static let devicesFile = OptionDefinition("devices-file", .value("FILE|-"), "a list of devices, one a line")
  static let format = OptionDefinition(
    "format", .value("NAME"), "of the list: tokens, ndjson or csv; default: by the file's name, else tokens")
  static let skipInvalid = OptionDefinition(
    "skip-invalid", .flag, "a bad line is an outcome; else it refuses the whole list")
  static let unique = OptionDefinition("unique", .flag, "send to each token once, however often it is listed")
  static let noDuplicateCheck = OptionDefinition("no-duplicate-check", .flag, "do not count repeated tokens")
  static let title = OptionDefinition("title", short: "t", .value("TEXT"), "title of the notification")
  static let body = OptionDefinition("body", short: "b", .value("TEXT"), "text of the notification")
  static let subtitle = OptionDefinition("subtitle", .value("TEXT"), "second line of the title")
  static let sound = OptionDefinition("sound", .value("NAME"), "sound file of the app, or default")
  static let badge = OptionDefinition("badge", .value("N"), "number on the icon; 0 removes it")
  static let category = OptionDefinition("category", .value("ID"), "category with the app's actions")
  static let thread = OptionDefinition("thread", .value("ID"), "groups notifications")
  static let link = OptionDefinition("link", .value("URL"), "where a tap leads: the payload's member link")
  static let image = OptionDefinition(
    "image", .value("URL"), "picture for the service extension: imageUrl and mutable-content")
  static let payload = OptionDefinition("payload", .value("FILE|-"), "whole payload, sent byte for byte")
  static let environment = OptionDefinition(
    "environment", .value("NAME"), "sandbox or production", choices: ["sandbox", "production"])
  static let endpoint = OptionDefinition("endpoint", .value("URL"), "another APNs, e.g. the stand-in's https://…")
  static let ca = OptionDefinition("ca", .value("FILE"), "certificate that signs the endpoint's, PEM")
  static let pushType = OptionDefinition(
    "push-type", .value("TYPE"), "default: what the payload asks for", choices: APNsPushType.known.map(\.rawValue))
  static let priority = OptionDefinition(
    "priority", .value("N"), "10, 5 or 1; default 10, background 5", choices: ["10", "5", "1"])
  static let expiration = OptionDefinition(
    "expiration", .value("WHEN"), "0 (try once), UNIX seconds, or +DURATION such as +1h")
  static let collapseID = OptionDefinition("collapse-id", .value("ID"), "replaces an older push with the same id")
  static let apnsID = OptionDefinition("apns-id", .value("UUID"), "with exactly one device; default: a new one")
  static let connections = OptionDefinition("connections", .value("N"), "connections to APNs, 1 to 64; default 1")
  static let concurrency = OptionDefinition("concurrency", .value("N"), "pushes in flight over all; default 1000")
  static let rate = OptionDefinition("rate", .value("N"), "pushes a second over the run; default: no limit")
  static let retry = OptionDefinition("retry", .value("N"), "repeats of a push after 429, 500, 503; default 3")
  static let retryUnknown = OptionDefinition(
    "retry-unknown", .flag,
    "repeat once when a reply was lost, also in an earlier run of --resume, though it may arrive twice")
  static let timeout = OptionDefinition("timeout", .value("DURATION"), "for the whole run; default: none")
  static let requestTimeout = OptionDefinition("request-timeout", .value("DURATION"), "for one reply; default 30s")
  static let proxy = OptionDefinition(
    "proxy", .value("URL"), "way to APNs, http://host:port; default: HTTPS_PROXY unless NO_PROXY names the host")
  static let resume = OptionDefinition(
    "resume", .value("FILE"), "journal of the run: the same command goes on where it was stopped")
  static let dryRun = OptionDefinition("dry-run", .flag, "show what would be sent; no network")
  static let quiet = OptionDefinition("quiet", .flag, "no progress and no summary for people")
  static let json = OptionDefinition("json", .optionalValue("FIELDS"), "one object a line; FIELDS such as line,state")

  /// Everything that says what, to whom and how, without the server.
  static let direct: [OptionDefinition] = [
    p8, keyID, team, p12, cert, key, passphraseFile, topic, device, devicesFile, format, skipInvalid, unique,
    noDuplicateCheck, title, body, subtitle,
    sound, badge, category, thread, link, image, payload, environment, endpoint, ca, pushType, priority, expiration,
    collapseID, apnsID, connections, concurrency, rate, retry, retryUnknown, timeout, requestTimeout, proxy, resume,
    dryRun,
    quiet, json,
  ]

  /// Refused by name until they exist.
  static let planned = ["segment", "holdout", "canary", "confirm"]
}
