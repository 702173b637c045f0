import EventLoop
import HTTPServer
import Observability
import PabalModel
import PabalPrimitives
import SQLiteStorage
import ServerAPI
import Simulator
import Storage

/// Puts a server together, part by part; what is made is noted at once, so that a failure can end it.
struct UpAssembly {
  static let app = "demo"
  private static let host = "127.0.0.1"
  private static let names = ["localhost", "127.0.0.1", "::1"]
  private static let simulatorPrefix = "/v1/simulator"

  let configuration: UpConfiguration
  let ports: UpPorts
  let parts: UpParts

  func build() async throws -> UpReadyLine {
    let folder = parts.folder
    let masterKey = try folder.masterKey()
    let profile = try UpProfile.read(folder.profilePath)
    let keys = profile.map { APIKeys(secret: $0.testKey, publishable: $0.publishableKey) } ?? mintedKeys()
    let simulator = try await startSimulator()
    try folder.prepareDatabase()
    let file = try await SQLitePushStorage.open(
      path: folder.databasePath, masterKey: masterKey, clock: configuration.clock)
    parts.note { $0.storage = file }
    let storage = configuration.storeLayer(file)
    let appMode = try await storage.openApp(named: Self.app, mode: .test)
    let loop = try UVLoop()
    parts.note { $0.loop = loop }
    let metrics = Metrics(APIMetrics.declarations)
    let telemetry = ServerTelemetry(metrics: metrics, log: configuration.log, version: configuration.version)
    let control = ControlClient(endpoint: simulator.control, loop: loop)
    let devices = try StandInDevices(
      control: control, index: try StandInIndex(path: folder.standInIndexPath), masterKey: masterKey, storage: storage,
      appMode: appMode, log: configuration.log)
    let dispatcher = try startSending(
      simulator, storage: storage, loop: loop, telemetry: telemetry, masterKey: masterKey)
    // The dispatcher counts what it does, and so holds what is asked here.
    telemetry.watch { [weak dispatcher] in dispatcher?.inFlight ?? 0 }
    let gauges = ServerGauges(storage: storage, appMode: appMode, folder: folder, metrics: metrics, parts: parts)
    ProcessMetrics.add(to: metrics, startedAt: configuration.clock.wall())
    let api = makeAPI(
      keys: keys, appMode: appMode, simulator: simulator, storage: storage, dispatcher: dispatcher, devices: devices,
      metrics: metrics, gauges: gauges)
    // Read before the API takes its first message, whose marks are this process's own.
    let leftBehind = try await storage.openMarks()
    let (apiPort, metricsPort) = try startWeb(api, control: control, telemetry: telemetry, metrics: metrics)
    telemetry.stage("server.listening", "The API is bound; the stand-in learns the registered devices")
    try await devices.adoptAll(topic: simulator.topic)
    let population = DemoPopulation(
      storage: storage, devices: devices, appMode: appMode, topic: simulator.topic, clock: configuration.clock)
    if profile == nil { try await population.settle() }
    try await Recovery(
      storage: storage, dispatcher: dispatcher, telemetry: telemetry, clock: configuration.clock
    ).run(leftBehind)
    let line = UpReadyLine(
      server: "http://\(Self.host):\(apiPort)", testKey: keys.secret, publishableKey: keys.publishable, app: Self.app,
      data: folder.path, metrics: "http://\(Self.host):\(metricsPort)", simulator: simulator.published,
      users: try await population.listing())
    try DataFolder.write(line.profile.encoded + [0x0A], to: folder.profilePath)
    let keeper = RetentionKeeper(
      storage: storage, loop: loop, clock: configuration.clock, metrics: metrics, log: configuration.log)
    // Awaited by `UpParts.stop`.
    let keeping = Task.detached { await keeper.run() }
    parts.note { running in
      running.keeper = keeper
      running.keeping = keeping
      running.phase = .ready
    }
    telemetry.stage("server.ready", "The server is ready")
    return line
  }

  private func mintedKeys() -> APIKeys {
    func key(_ prefix: String) -> String { prefix + Base64URL.encode(Randomness.system.fill(24)) }
    return APIKeys(secret: key("pb_test_"), publishable: key("pp_test_"))
  }

  /// A stand-in of its own, or the one that a file names: either way only its ready line is used from here on.
  private func startSimulator() async throws -> SimulatorLine {
    if let file = configuration.simulatorFile {
      guard let text = try DataFolder.read(file) else {
        throw UpError(.simulator, "\(file) is missing. Write it with pabal sim serve --json > \(file).")
      }
      return try SimulatorLine(parsing: text)
    }
    var settings = StandInConfiguration(dataFolder: parts.folder.simulatorPath)
    settings.sandboxPort = ports.sandbox
    settings.productionPort = ports.production
    settings.controlPort = ports.control
    settings.version = configuration.version
    settings.clock = configuration.clock
    let standIn = try await StandIn.start(settings)
    parts.note { $0.standIn = standIn }
    return try SimulatorLine(parsing: standIn.readyLine.json.encodedText)
  }

  private func startSending(
    _ simulator: SimulatorLine, storage: any PushStorage, loop: UVLoop, telemetry: ServerTelemetry,
    masterKey: [UInt8]
  ) throws -> Dispatcher {
    let transports = try TestTransports(simulator, loop: loop, clock: configuration.clock) { credential in
      try ProviderTokenShelf(credential, folder: parts.folder, masterKey: masterKey, telemetry: telemetry).sharing
    }
    let journal = OutcomeJournal(storage: storage, telemetry: telemetry)
    let dispatcher = Dispatcher(
      transports: transports, storage: storage, journal: journal, loop: loop, clock: configuration.clock,
      telemetry: telemetry)
    // Both are awaited by `UpParts.stop`.
    let writing = Task.detached { await journal.run() }
    let dispatching = Task.detached { await dispatcher.run() }
    parts.note { running in
      running.transports = transports
      running.journal = journal
      running.dispatcher = dispatcher
      running.writing = writing
      running.dispatching = dispatching
    }
    return dispatcher
  }

  private func makeAPI(
    keys: APIKeys, appMode: AppMode, simulator: SimulatorLine, storage: any PushStorage, dispatcher: Dispatcher,
    devices: StandInDevices, metrics: Metrics, gauges: ServerGauges
  ) -> PushAPI {
    let parts = parts
    let settings = PushAPIConfiguration(
      appName: Self.app, appMode: appMode, keys: keys, defaultTopic: simulator.topic, version: configuration.version,
      clock: configuration.clock, log: configuration.log, metrics: metrics,
      readiness: { await Self.readiness(parts, storage: storage, appMode: appMode) },
      beforeMetrics: { await gauges.refresh() },
      adopt: { token, topic, environment in
        try await devices.adopt(token, topic: topic, environment: environment)
      })
    return PushAPI(
      configuration: settings, storage: storage,
      dispatcher: PushDispatcher(
        position: { dispatcher.position }, reconsider: { await dispatcher.reconsider($0) },
        dispatch: { deliveries, wait, since in await dispatcher.dispatch(deliveries, wait: wait, since: since) }))
  }

  private static func readiness(
    _ parts: UpParts, storage: any PushStorage, appMode: AppMode
  ) async -> Readiness {
    let phase = parts.running.withLock { $0.phase }
    let phaseCheck =
      switch phase {
      case .starting: Readiness.Check("serving", isOK: false, reason: "starting")
      case .ready: Readiness.Check("serving", isOK: true)
      case .draining: Readiness.Check("serving", isOK: false, reason: "draining")
      }
    do {
      _ = try await storage.preferences(of: UserID(rawValue: "readiness"), in: appMode)
      return Readiness(checks: [phaseCheck, Readiness.Check("store", isOK: true)])
    } catch {
      return Readiness(checks: [phaseCheck, Readiness.Check("store", isOK: false, reason: error.code)])
    }
  }

  /// The stand-in's resources: its own routes when it runs in this process, else calls to it.
  private func simulatorRoutes(_ control: ControlClient) -> [Route] {
    parts.running.withLock { $0.standIn }?.controlRoutes(prefix: Self.simulatorPrefix)
      ?? SimulatorForwarding(control: control, prefix: Self.simulatorPrefix).routes
  }

  private func startWeb(
    _ api: PushAPI, control: ControlClient, telemetry: ServerTelemetry, metrics: Metrics
  ) throws -> (api: UInt16, operations: UInt16) {
    var hooks = APIMetrics.hooks(metrics)
    let count = hooks.answered
    hooks.answered = { answered in
      count(answered)
      telemetry.answered(
        method: answered.method?.rawValue ?? "other", route: answered.route, status: answered.status,
        requestID: answered.requestID, duration: answered.duration)
    }
    let web = WebServer(
      configuration: WebServerConfiguration(
        host: Self.host, port: ports.api, allowedHosts: Self.names, clock: configuration.clock, hooks: hooks),
      router: api.router(extra: simulatorRoutes(control)))
    let apiPort = try web.start()
    parts.note { $0.api = web }
    let operations = WebServer(
      configuration: WebServerConfiguration(
        host: Self.host, port: ports.metrics, allowedHosts: Self.names, clock: configuration.clock),
      router: Router(api.operationRoutes))
    let operationsPort = try operations.start()
    parts.note { $0.operations = operations }
    return (apiPort, operationsPort)
  }
}
