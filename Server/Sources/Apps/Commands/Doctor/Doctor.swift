import APNs
import ArgumentParsing
import EventLoop
import PabalModel
import PabalPrimitives
import ServerAPI
import TLS

/// `pabal doctor`: key file, clock, and each step of the way to APNs, with what to do about what fails.
enum Doctor {
  static let timeServer = OptionDefinition(
    "time-server", .value("HOST"), "compare the clock by NTP; default: time.apple.com, none with --endpoint")
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "as an object, in both languages")

  static let definition = CommandDefinition(
    "doctor", summary: "check key, clock, network and credentials, step by step",
    examples: [
      CommandExample("pabal doctor", "can this machine reach APNs?"),
      CommandExample(
        "pabal doctor --p8 AuthKey_ABC123DEFG.p8 --team TEAM123456 --topic com.example.app --environment sandbox",
        "and does APNs take the key for this app?"),
    ],
    options: [
      SendOptions.p8, SendOptions.keyID, SendOptions.team, SendOptions.p12, SendOptions.cert, SendOptions.key,
      SendOptions.passphraseFile, SendOptions.topic, SendOptions.environment, SendOptions.endpoint, SendOptions.ca,
      timeServer, json,
    ],
    notes: [
      """
      Key or certificate are tried with a push to a token that no device can have: BadDeviceToken then means that they
      were taken. It reaches nobody, uses a connection of its own and the provider token that other commands share, and
      is made at most once a minute. Without --environment and --endpoint both of Apple's are checked.
      """,
      "Exit code 0 when nothing failed, 6 when something did.",
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let targets = try DoctorTarget.read(command)
    var report = DoctorReport(context, isQuiet: command.isSet(json))
    var credential: APNsCredential?
    if [SendOptions.p8, SendOptions.p12, SendOptions.cert].contains(where: command.isSet) {
      let key = DoctorKeyFile.check(command, context)
      report.add(key.check)
      credential = key.credential
    }
    report.add(await DoctorClock.check(command, context))
    for target in targets {
      await target.examine(DoctorProbe(credential, command, context), into: &report)
    }
    if command.isSet(json) {
      try context.show(report.json, command, json)
    } else {
      context.say(report.summary)
    }
    return report.failures == 0 ? .done : .partial
  }
}

/// One APNs to be examined.
struct DoctorTarget {
  let endpoint: Endpoint
  let trust: TLSTrust
  let isApples: Bool

  static func read(_ command: ParsedCommand) throws -> [DoctorTarget] {
    guard command.isSet(SendOptions.endpoint) || command.isSet(SendOptions.environment) else {
      if command.isSet(SendOptions.ca) { _ = try SendEndpoint.place(command) }
      return PushEnvironment.allCases.map {
        DoctorTarget(endpoint: SendEndpoint.host($0), trust: .system, isApples: true)
      }
    }
    return [
      DoctorTarget(
        endpoint: try SendEndpoint.place(command), trust: try SendEndpoint.trust(command),
        isApples: command.isSet(SendOptions.environment))
    ]
  }

  /// DNS, TCP, TLS, HTTP/2, then the key; each only when the one before worked.
  func examine(_ probe: DoctorProbe, into report: inout DoctorReport) async {
    let host = endpoint.description
    let lookup = await DoctorNetwork.resolve(endpoint)
    report.add(lookup.check)
    guard !lookup.addresses.isEmpty else { return }
    let tcp = await DoctorNetwork.connect(endpoint, to: lookup.addresses, isApples: isApples)
    report.add(tcp)
    guard tcp.state == .ok else { return }
    do {
      for check in try await probe.run(endpoint, trust) { report.add(check) }
    } catch {
      report.add(
        DoctorCheck(
          "tls", at: host, .failed, Sentence("\(error)", "\(error)"),
          do: Sentence("Report it: this is a fault of ours.", "알려 주세요. 저희의 오류입니다.")))
    }
  }
}
