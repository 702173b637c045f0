package import Observability
package import PabalPrimitives
package import Storage

/// How `pabal up` is started.
package struct UpConfiguration: Sendable {
  package enum Folder: Sendable, Equatable {
    /// Made if it is missing; survives the process.
    case kept(String)
    /// A folder of its own, 0700, removed when the server stops.
    case ephemeral
  }

  package var folder: Folder
  /// The API's port; the others follow from it. 0: every port is a free one.
  package var port: UInt16
  /// A file with the ready line of a running `pabal sim serve --json`; `nil`: a stand-in of its own.
  package var simulatorFile: String?
  package var version: String
  package var clock: Clock
  package var log: Log
  /// How long requests in flight may take to finish after a stop was asked for.
  package var grace: Duration
  /// Stands between the store and everything else; for a test that wants a store to be slow or wrong.
  package var storeLayer: @Sendable (any PushStorage) -> any PushStorage = { $0 }

  package static let defaultPort: UInt16 = 8_420
  package static let defaultFolder = "pabal-data"

  package init(
    folder: Folder = .kept(Self.defaultFolder), port: UInt16 = Self.defaultPort, simulatorFile: String? = nil,
    version: String = "0", clock: Clock = .system, log: Log = .none, grace: Duration = .seconds(30)
  ) {
    self.folder = folder
    self.port = port
    self.simulatorFile = simulatorFile
    self.version = version
    self.clock = clock
    self.log = log
    self.grace = grace
  }
}

/// The five ports of one server.
struct UpPorts: Equatable {
  let api: UInt16
  let sandbox: UInt16
  let production: UInt16
  let control: UInt16
  let metrics: UInt16

  /// N, N + 1, N + 11, N + 12 and N + 9; 0: all free ones.
  init(base: UInt16) throws(UpError) {
    guard base <= UInt16.max - 12 else {
      throw UpError(
        .configuration, "Port \(base) leaves no room for the ports up to \(UInt32(base) + 12); use a lower one.")
    }
    let isFree = base == 0
    api = base
    sandbox = isFree ? 0 : base + 1
    production = isFree ? 0 : base + 11
    control = isFree ? 0 : base + 12
    metrics = isFree ? 0 : base + 9
  }
}
