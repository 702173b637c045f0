import EventLoop
import HTTPServer
import Observability
import PabalModel
import PabalPrimitives
import SQLiteStorage
import ServerAPI
import Simulator
import Storage

/// `pabal up`: the API, its store and its sending, with a stand-in APNs behind them.
package final class UpServer: Sendable {
  package let readyLine: UpReadyLine
  private let parts: UpParts

  private init(readyLine: UpReadyLine, parts: UpParts) {
    self.readyLine = readyLine
    self.parts = parts
  }

  package enum Start: Sendable {
    case running(UpServer)
    /// Another process serves this folder; its links.
    case alreadyRunning(UpReadyLine)
  }

  /// Returns when everything is up: `/readyz` answers 200. When it fails, nothing is left running.
  package static func start(_ configuration: UpConfiguration) async throws(UpError) -> Start {
    let ports = try UpPorts(base: configuration.port)
    switch try DataFolder.open(configuration.folder) {
    case .taken(let path):
      return .alreadyRunning(try await linksOfOther(in: path))
    case .held(let folder):
      let parts = UpParts(folder: folder, configuration: configuration)
      do {
        let line = try await UpAssembly(configuration: configuration, ports: ports, parts: parts).build()
        return .running(UpServer(readyLine: line, parts: parts))
      } catch {
        await parts.stop(grace: .zero)
        throw UpError(translating: error)
      }
    }
  }

  /// Takes no new requests, finishes what is in flight within the configured grace, commits its outcomes, and ends.
  package func stop() async {
    await parts.stop(grace: parts.configuration.grace)
  }

  private static func linksOfOther(in path: String) async throws(UpError) -> UpReadyLine {
    guard let profile = try UpProfile.read(path + "/profile.json"),
      let control = profile.controlURL.flatMap({ Endpoint(url: $0) })
    else {
      throw UpError(
        .locked, "Another server is starting in \(path). Wait for it, or choose another folder with --data.")
    }
    let loop: UVLoop
    do {
      loop = try UVLoop()
    } catch {
      throw UpError(.configuration, "No event loop could be started.", cause: error)
    }
    defer { loop.stop() }
    do {
      return try await profile.readyLine(control: ControlClient(endpoint: control, loop: loop))
    } catch {
      throw UpError(
        .locked,
        "Another server holds \(path) and does not answer: it is starting or stopping. Wait for it, or choose another "
          + "folder with --data.", cause: error)
    }
  }
}

extension UpError {
  /// What lies below, in this library's words; the sentence that says what to do is the cause's own.
  init(translating error: any Error, file: String = #fileID, line: Int = #line) {
    switch error {
    case let error as UpError: self = error
    case let error as StorageError: self.init(.store, error.message, cause: error, file: file, line: line)
    case let error as StandInError: self.init(.simulator, error.message, cause: error, file: file, line: line)
    case let error as WebServerError: self.init(.port, error.message, cause: error, file: file, line: line)
    case let error as any CodedError: self.init(.configuration, error.message, cause: error, file: file, line: line)
    default: self.init(.configuration, "The server could not be started.", cause: error, file: file, line: line)
    }
  }
}
