import ArgumentParsing
import PabalPrimitives
import Simulator

/// `pabal sim serve`: a strict APNs with devices of its own, until it is told to stop.
enum SimServe {
  /// A scenario with the most rules that a stand-in takes is far below.
  private static let scenarioBytes = 1 << 20
  private static let host = OptionDefinition("host", .value("ADDRESS"), "numeric address; default 127.0.0.1")
  private static let allowRemote = OptionDefinition("allow-remote", .flag, "let --host be reachable from elsewhere")
  private static let san = OptionDefinition("san", .list("NAME"), "further names in the certificate")
  private static let sandboxPort = OptionDefinition("sandbox-port", .value("N"), "default 8421; 0 takes a free one")
  private static let productionPort = OptionDefinition("production-port", .value("N"), "default 8431; 0: a free one")
  private static let controlPort = OptionDefinition(
    "control-port", .value("N"), "default \(SimPlaces.usualPort); 0: a free one")
  private static let devices = OptionDefinition("devices", .value("N"), "devices made at the start; default 3")
  private static let topic = OptionDefinition("topic", .value("BUNDLE"), "their app; default com.example.demo")
  private static let data = OptionDefinition("data", .value("DIR"), "keeps authority and key; default: a new folder")
  private static let scenario = OptionDefinition(
    "scenario", .value("FILE"), "faults in force from the start: {\"rules\":[…]}, as `sim fault --file` takes them")
  private static let devicesOut = OptionDefinition(
    "devices-out", .value("FILE"), "write all device tokens there, one a line, for `send --devices-file`")
  private static let log = OptionDefinition(
    "log", .value("WHAT"), "requests (default) keeps the last ones for `sim requests`; none keeps none, for benches",
    choices: ["requests", "none"])
  private static let json = OptionDefinition("json", .flag, "one line when ready")

  static let definition = CommandDefinition(
    "serve", summary: "run a strict local APNs",
    examples: [
      CommandExample("pabal sim serve", "sandbox on 8421, production on 8431, control on 8432"),
      CommandExample("pabal sim serve --scenario faults.json --devices 5000 --devices-out tokens.txt", "a bad day"),
      CommandExample(
        "pabal sim serve --sandbox-port 0 --production-port 0 --control-port 0 --json", "free ports, for scripts"),
    ],
    options: [
      host, allowRemote, san, sandboxPort, productionPort, controlPort, scenario, devices, devicesOut, topic, data, log,
      InputEnd.option, json,
    ],
    notes: [
      """
      It ends by SIGTERM or Ctrl-C, and at the end of standard input with --exit-with-stdin, or with --json when
      standard input is a pipe. Keys and certificates lie in --data, else in a folder that goes away with it.
      SSLKEYLOGFILE names a file for the secrets of its TLS sessions, so that Wireshark can read them; no other command
      of pabal heeds it.
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let stop = StopRequest()
    context.signals.onSignal { _ in stop.request() }
    InputEnd.watch(command, json: json, stop)
    let folder = try command.value(data).map { ServeFolder.given($0) } ?? ServeFolder.temporary()
    let standIn = try await start(command, folder, context)
    announce(standIn.readyLine, command, context)
    await stop.requested()
    await standIn.stop()
    folder.removeIfTemporary()
    return .done
  }

  /// When it fails, nothing is left behind.
  private static func start(
    _ command: ParsedCommand, _ folder: ServeFolder, _ context: CommandContext
  ) async throws -> StandIn {
    do {
      var configuration = try Self.configuration(command, folder)
      if let path = context.environment["SSLKEYLOGFILE"], !path.isEmpty {
        configuration.keyLogFile = path
        context.say("warning: SSLKEYLOGFILE is set: who reads \(path) can read every push to this stand-in.")
      }
      let standIn = try await StandIn.start(configuration)
      do {
        if let path = command.value(devicesOut) { try TokenFile.write(standIn.core, to: path) }
        return standIn
      } catch {
        await standIn.stop()
        throw error
      }
    } catch {
      folder.removeIfTemporary()
      throw error
    }
  }

  private static func configuration(
    _ command: ParsedCommand, _ folder: ServeFolder
  ) throws(UsageError) -> StandInConfiguration {
    var configuration = StandInConfiguration(dataFolder: folder.path)
    configuration.host = command.value(host) ?? "127.0.0.1"
    configuration.names = command.list(san)
    configuration.sandboxPort = UInt16(try command.integer(sandboxPort, in: 0...65_535) ?? 8421)
    configuration.productionPort = UInt16(try command.integer(productionPort, in: 0...65_535) ?? 8431)
    configuration.controlPort = UInt16(try command.integer(controlPort, in: 0...65_535) ?? Int(SimPlaces.usualPort))
    configuration.deviceCount = try command.integer(devices, in: 0...1_000_000) ?? 3
    configuration.topic = command.value(topic) ?? configuration.topic
    configuration.version = Version.current
    if let path = command.value(scenario) {
      configuration.scenario = try InputFile.contents(of: path, what: "The scenario", limit: scenarioBytes)
    }
    switch command.value(log) ?? "requests" {
    case "requests": break
    case "none": configuration.rules.logsRequests = false
    case let other: throw UsageError("--log must be requests or none; found '\(other)'.")
    }
    let isLoopback = configuration.host.hasPrefix("127.") || configuration.host == "::1"
    guard isLoopback || command.isSet(allowRemote) else {
      throw UsageError(
        "--host \(configuration.host) can be reached from elsewhere: add --allow-remote if that is wanted.")
    }
    return configuration
  }

  private static func announce(_ line: StandInReadyLine, _ command: ParsedCommand, _ context: CommandContext) {
    guard !command.isSet(json) else { return context.output.line(line.json.encodedText) }
    context.output.line("sandbox     \(line.sandbox)")
    context.output.line("production  \(line.production)")
    if let control = line.control { context.output.line("control     \(control)/v1/simulator/devices") }
    for device in line.devices.prefix(5) {
      context.output.line("device      \(device.id)  \(Hex.encode(device.token))  \(device.environment.rawValue)")
    }
    guard let first = line.devices.first else { return }
    context.say("")
    context.say("Try it in another terminal:")
    context.say(
      "  pabal send --p8 \(line.keyFile) --key-id \(line.keyID) --team \(line.teamID) --topic \(line.topic) \\")
    context.say(
      "    --endpoint \(line.sandbox) --ca \(line.caFile) --device \(Hex.encode(first.token)) -t 안녕 -b \"첫 푸시\"")
    context.say("Ctrl-C stops it.")
  }
}

/// Asked for once, by a signal or the end of the input; awaited once.
final class StopRequest: Sendable {
  private let state = Locked<(isRequested: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

  func request() {
    let waiter = state.withLock { state in
      state.isRequested = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  func requested() async {
    await withCheckedContinuation { continuation in
      let isRequested = state.withLock { state in
        if !state.isRequested { state.waiter = continuation }
        return state.isRequested
      }
      if isRequested { continuation.resume() }
    }
  }
}
