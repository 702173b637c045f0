#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import PabalPrimitives
import PabalServer
import TestSupport
import Testing

/// Starts that must be refused: each names the place and the remedy, and leaves nothing running or locked.
@Suite struct UpRefusalTests {
  private func refusal(_ configuration: UpConfiguration) async throws -> UpError {
    let error = await #expect(throws: UpError.self) { _ = try await UpServer.start(configuration) }
    return try #require(error)
  }

  @Test func `a port without room for the others`() async throws {
    let error = try await refusal(UpConfiguration(folder: .ephemeral, port: 65_530))
    #expect(error.kind == .configuration)
    #expect(error.message.contains("65530"))
  }

  @Test func `a data folder that cannot be made`() async throws {
    let error = try await refusal(UpConfiguration(folder: .kept("/proc/pabal/data"), port: 0))
    #expect(error.kind == .dataFolder)
    #expect(error.message.contains("--data"))
  }

  @Test(arguments: ["", "not json", "{}", #"{"apns":{}}"#, #"{"apns":{"sandbox":"nowhere"}}"#])
  func `a simulator file without a ready line`(text: String) async throws {
    let folder = try TemporaryFolder()
    try TestFiles.write(text, to: folder.file("sim.json"))
    let error = try await refusal(
      UpConfiguration(folder: .ephemeral, port: 0, simulatorFile: folder.file("sim.json")))
    #expect(error.kind == .simulator)
    #expect(error.message.contains("serve --json"))
  }

  @Test func `a simulator file that is missing`() async throws {
    let error = try await refusal(UpConfiguration(folder: .ephemeral, port: 0, simulatorFile: "/nonexistent/sim.json"))
    #expect(error.kind == .simulator)
    #expect(error.message.contains("/nonexistent/sim.json"))
  }

  @Test func `a stand-in that does not run any more`() async throws {
    let folder = try TemporaryFolder()
    guard
      case .running(let server) = try await UpServer.start(UpConfiguration(folder: .kept(folder.file("a")), port: 0))
    else { throw DidNotStart() }
    try TestFiles.write(server.readyLine.simulator.encoded, to: folder.file("sim.json"))
    await server.stop()
    let error = try await refusal(
      UpConfiguration(folder: .kept(folder.file("b")), port: 0, simulatorFile: folder.file("sim.json")))
    #expect(error.kind == .simulator)
    #expect(error.message.contains("control API"))
  }

  @Test(arguments: ["", "abc", String(repeating: "z", count: 64), String(repeating: "a", count: 62)])
  func `a master key that is none`(text: String) async throws {
    let folder = try TemporaryFolder()
    try TestFiles.write(text, to: folder.file("master.key"))
    let error = try await refusal(UpConfiguration(folder: .kept(folder.path), port: 0))
    #expect(error.kind == .dataFolder)
    #expect(error.message.contains("master.key"))
  }

  @Test func `a profile that is none; removed, the folder is free again`() async throws {
    let folder = try TemporaryFolder()
    try TestFiles.write("[]", to: folder.file("profile.json"))
    let error = try await refusal(UpConfiguration(folder: .kept(folder.path), port: 0))
    #expect(error.kind == .dataFolder)
    try TestFiles.write("{}", to: folder.file("profile.json"))
    _ = try await refusal(UpConfiguration(folder: .kept(folder.path), port: 0))
    // The refusals above gave the lock back.
    unlink(folder.file("profile.json"))
    guard case .running(let server) = try await UpServer.start(UpConfiguration(folder: .kept(folder.path), port: 0))
    else {
      Issue.record("the folder is still locked")
      return
    }
    await server.stop()
  }

  @Test func `a folder whose server is just going`() async throws {
    let folder = try TemporaryFolder()
    let configuration = UpConfiguration(folder: .kept(folder.path), port: 0)
    guard case .running(let server) = try await UpServer.start(configuration) else { throw DidNotStart() }
    await server.stop()
    let lock = open(folder.file("lock"), O_RDWR)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0, "the server gave it back")
    let error = try await refusal(configuration)
    #expect(error.kind == .locked)
    #expect(error.message.contains("stopping") && error.message.contains("--data"))
  }

  @Test func `a port that is taken`() async throws {
    // The stand-in takes ports next to a port that was named, and one of those may be somebody else's at this moment.
    for attempt in 0..<20 {
      let folder = try TemporaryFolder()
      guard
        case .running(let first) = try await UpServer.start(UpConfiguration(folder: .kept(folder.file("a")), port: 0))
      else { throw DidNotStart() }
      let port = try #require(first.readyLine.server.split(separator: ":").last.flatMap { UInt16($0) })
      let named = UpConfiguration(folder: .kept(folder.file("b")), port: min(port, UInt16.max - 12))
      let kind = port == named.port ? try await refusal(named).kind : .simulator
      await first.stop()
      if kind == .port { return }
      try #require(kind == .simulator && attempt < 19)
    }
  }
}

private struct DidNotStart: Error {}
