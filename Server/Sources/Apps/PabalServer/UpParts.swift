import EventLoop
import HTTPServer
import PabalPrimitives
import SQLiteStorage
import Simulator

/// What a server is made of, in the making and in the ending: any of it may be missing.
final class UpParts: Sendable {
  enum Phase: Sendable {
    case starting, ready, draining
  }

  struct Running: Sendable {
    var phase = Phase.starting
    var standIn: StandIn?
    var storage: SQLitePushStorage?
    var loop: UVLoop?
    var transports: TestTransports?
    var dispatcher: Dispatcher?
    var journal: OutcomeJournal?
    var dispatching: Task<Void, Never>?
    var writing: Task<Void, Never>?
    var keeper: RetentionKeeper?
    var keeping: Task<Void, Never>?
    var api: WebServer?
    var operations: WebServer?
  }

  let folder: DataFolder
  let configuration: UpConfiguration
  let running = Locked(Running())

  init(folder: DataFolder, configuration: UpConfiguration) {
    self.folder = folder
    self.configuration = configuration
  }

  func note(_ change: (inout Running) -> Void) {
    running.withLock { change(&$0) }
  }

  /// Requests first, then pushes, then outcomes, then the store: each rests on the next. The operations' port answers
  /// `draining` until nearly the end. Then everything is let go of: the routes know the parts, and the parts hold the
  /// servers of the routes.
  func stop(grace: Duration) async {
    note { $0.phase = .draining }
    let parts = running.withLock { $0 }
    await parts.api?.stop(grace: grace)
    await parts.dispatcher?.finish(grace: grace)
    await parts.dispatching?.value
    parts.journal?.finish()
    await parts.writing?.value
    await parts.transports?.shutdown(grace: .zero)
    parts.keeper?.finish()
    await parts.keeping?.value
    await parts.storage?.close()
    await parts.standIn?.stop()
    await parts.operations?.stop(grace: .zero)
    parts.loop?.stop()
    note { $0 = Running(phase: .draining) }
    folder.leave()
  }
}
