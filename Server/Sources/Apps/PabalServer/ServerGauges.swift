import Observability
import PabalModel
import PabalPrimitives
import ProviderTransport
import Storage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Numbers that are asked for when somebody wants to see them.
struct ServerGauges: Sendable {
  private static let devices = "pabal_devices"
  private static let connections = "pabal_provider_connections"
  private static let connectionEvents = "pabal_provider_connection_events_total"
  private static let storeSize = "pabal_store_size_bytes"

  let storage: any PushStorage
  let appMode: AppMode
  let folder: DataFolder
  let metrics: Metrics
  let parts: UpParts

  init(storage: any PushStorage, appMode: AppMode, folder: DataFolder, metrics: Metrics, parts: UpParts) {
    self.storage = storage
    self.appMode = appMode
    self.folder = folder
    self.metrics = metrics
    self.parts = parts
    let declarations = [
      Metrics.Declaration(Self.devices, .gauge, help: "Devices in the registry.", labels: ["platform", "status"]),
      Metrics.Declaration(
        Self.connections, .gauge, help: "Connections that take pushes.", labels: ["provider", "environment"]),
      Metrics.Declaration(
        Self.connectionEvents, .counter, help: "Connections dialled, and GOAWAYs received.",
        labels: ["provider", "event"]),
      Metrics.Declaration(Self.storeSize, .gauge, help: "Files of the store.", labels: ["part"]),
    ]
    for declaration in declarations { metrics.declare(declaration) }
  }

  func refresh() async {
    await countDevices()
    await readTransports()
    for (part, suffix) in [("database", ""), ("wal", "-wal")] {
      var status = stat()
      guard stat(folder.databasePath + suffix, &status) == 0 else { continue }
      metrics.set(Self.storeSize, [part], to: Double(status.st_size))
    }
  }

  private func countDevices() async {
    let counts: [DeviceCount]
    do {
      counts = try await storage.deviceCounts(in: appMode)
    } catch {
      // `/readyz` says what is wrong with the store; the numbers stay what they were.
      return
    }
    for platform in Set(counts.map(\.platform)).union([.ios]) {
      for status in [DeviceRecord.Status.active, .inactive] {
        let count = counts.first { $0.platform == platform && $0.status == status }?.count ?? 0
        metrics.set(Self.devices, [platform.rawValue, status.rawValue], to: Double(count))
      }
    }
  }

  private func readTransports() async {
    guard let transports = parts.running.withLock({ $0.transports }) else { return }
    var dialled = 0
    var goaways = 0
    for environment in PushEnvironment.allCases {
      let statistics = await transports[environment].statistics()
      metrics.set(Self.connections, ["apns", environment.rawValue], to: Double(statistics.connectionsReady))
      dialled += statistics.connectionsDialed
      goaways += statistics.goaways
    }
    metrics.set(Self.connectionEvents, ["apns", "open"], to: Double(dialled))
    metrics.set(Self.connectionEvents, ["apns", "goaway"], to: Double(goaways))
  }
}
