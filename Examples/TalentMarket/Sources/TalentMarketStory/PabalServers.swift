package import Foundation
import PabalPrimitives

/// What a started Pabal says of itself in its ready line.
public struct PabalLinks: Sendable {
  public let server: String
  public let testKey: String
  public let publishableKey: String
  public let data: String
  public let metrics: String
  /// The stand-in's control API.
  public let control: String
  /// The bundle id that the stand-in takes pushes for.
  public let topic: String

  init(_ line: JSONSlice) throws {
    func text(_ value: JSONSlice?, _ name: String) throws -> String {
      try unwrap(value?.string, "the ready line of pabal up has no \(name)")
    }
    server = try text(line["server"], "server")
    testKey = try text(line["testKey"], "testKey")
    publishableKey = try text(line["publishableKey"], "publishableKey")
    data = try text(line["data"], "data")
    metrics = try text(line["metrics"], "metrics")
    control = try text(line["simulator"]?["control"], "simulator.control")
    topic = try text(line["simulator"]?["apns"]?["topic"], "simulator.apns.topic")
  }
}

/// Removes a folder of the system's temporary ones, which it clears by itself if this fails.
package func removeTemporary(_ folder: URL) {
  do { try FileManager.default.removeItem(at: folder) } catch { return }
}

/// The programs behind the story. Only these are ever stopped.
package struct PabalServers: Sendable {
  package let links: PabalLinks
  private let programs: [PabalProgram]
  private let folder: URL?

  /// - Parameter data: a folder that outlives the server; nil is a folder of its own, removed at the end.
  /// - Parameter trustsOther: give the server the certificate authority of another stand-in.
  package static func start(
    pabal: String, data: URL? = nil, trustsOther: Bool = false, patience: Duration
  ) async throws -> PabalServers {
    let arguments = ["up", "--port", "0", "--json"] + (data.map { ["--data", $0.path] } ?? ["--ephemeral"])
    guard trustsOther else {
      let server = try await PabalProgram.start(pabal, arguments)
      return try await ready(server, [server], folder: nil, patience: patience)
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("talent-market-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let serve = ["sim", "serve", "--json", "--sandbox-port", "0", "--production-port", "0", "--control-port", "0"]
    let standIn = try await PabalProgram.start(pabal, serve)
    let stranger = try await PabalProgram.start(pabal, serve)
    do {
      let line = try await within(patience, "ready line of sim serve") { try await standIn.readyLine() }
      let other = try await within(patience, "ready line of sim serve") { try await stranger.readyLine() }
      let file = folder.appendingPathComponent("simulator.json")
      try Data(changed(line, authority: other["apns"]?["caFile"]?.string ?? "").encoded).write(to: file)
      let server = try await PabalProgram.start(pabal, arguments + ["--simulator", file.path])
      return try await ready(server, [server, standIn, stranger], folder: folder, patience: patience)
    } catch {
      for program in [standIn, stranger] { await program.stop() }
      throw error
    }
  }

  private static func ready(
    _ server: PabalProgram, _ programs: [PabalProgram], folder: URL?, patience: Duration
  ) async throws -> PabalServers {
    do {
      let line = try await within(patience, "ready line of pabal up") { try await server.readyLine() }
      return PabalServers(links: try PabalLinks(line), programs: programs, folder: folder)
    } catch {
      await server.stop()
      throw error
    }
  }

  private static func changed(_ line: JSONSlice, authority: String) -> JSONValue {
    .object(
      line.members.map { name, value in
        guard name == "apns" else { return JSONMember(name, JSONValue(value)) }
        let members = value.members.map { name, value in
          JSONMember(name, name == "caFile" ? .string(authority) : JSONValue(value))
        }
        return JSONMember(name, .object(members))
      })
  }

  package func stop() async {
    for program in programs { await program.stop() }
    if let folder { removeTemporary(folder) }
  }
}
