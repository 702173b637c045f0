import HTTPServer
import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// The running stand-in: sockets, TLS, the control port. Pushes over the wire are in the integration tests.
@Suite struct StandInTests {
  @Test("the ready line has exactly the members of the contract, and the device is there") func readyLine() async throws
  {
    let folder = try TemporaryFolder()
    var configuration = StandInConfiguration(dataFolder: folder.path)
    configuration.deviceCount = 2
    configuration.version = "1.2.3"
    let standIn = try await StandIn.start(configuration)
    let json = try JSONSlice(parsing: standIn.readyLine.json.encoded)
    #expect(json.members.map(\.name) == ["apns", "control", "devices", "version", "pid"])
    #expect(
      json["apns"]?.members.map(\.name) == [
        "sandbox", "production", "caFile", "keyFile", "keyId", "teamId", "topic", "p12File", "certFile", "certKeyFile",
      ])
    for name in ["caFile", "keyFile", "p12File", "certFile", "certKeyFile"] {
      #expect(json["apns"]?[name]?.string?.hasPrefix("/") == true, "\(name)")
    }
    #expect(json["apns"]?["sandbox"]?.string?.hasPrefix("https://127.0.0.1:") == true)
    #expect(json["apns"]?["sandbox"]?.string != json["apns"]?["production"]?.string)
    #expect(json["apns"]?["teamId"]?.string?.count == 10)
    #expect(json["control"]?.string?.hasPrefix("http://127.0.0.1:") == true)
    let devices = try #require(json["devices"]?.elements)
    #expect(
      devices.map { $0.members.map(\.name) } == [["id", "token", "environment"], ["id", "token", "environment"]])
    let id = try #require(devices.first?["id"]?.string)
    #expect(standIn.core.withLock { $0.device(id: id)?.topic } == "com.example.demo")
    #expect(json["version"]?.string == "1.2.3")
    await standIn.stop()
  }

  @Test("a ready line lists at most a hundred devices") func manyDevices() async throws {
    let folder = try TemporaryFolder()
    var configuration = StandInConfiguration(dataFolder: folder.path)
    (configuration.deviceCount, configuration.controlPort) = (150, nil)
    let standIn = try await StandIn.start(configuration)
    #expect(standIn.readyLine.devices.count == 100)
    #expect(standIn.readyLine.control == nil)
    #expect(standIn.core.withLock { $0.devices(from: 0, limit: 1000).page.count } == 150)
    await standIn.stop()
  }

  @Test("a taken port is an error that names it, and nothing is left running") func takenPort() async throws {
    let folder = try TemporaryFolder()
    let first = try await StandIn.start(StandInConfiguration(dataFolder: folder.path))
    let port = try #require(UInt16(first.readyLine.sandbox.split(separator: ":").last ?? ""))
    var configuration = StandInConfiguration(dataFolder: folder.path)
    configuration.productionPort = port
    let error = await #expect(throws: StandInError.self) { try await StandIn.start(configuration) }
    #expect(error?.code == "simulator_listen")
    #expect(error?.message.contains("\(port)") == true)
    await first.stop()
    let again = try await StandIn.start(configuration)
    await again.stop()
  }

  @Test("a team id of another length is refused") func teamID() async throws {
    let folder = try TemporaryFolder()
    var configuration = StandInConfiguration(dataFolder: folder.path)
    configuration.teamID = "SHORT"
    let error = await #expect(throws: StandInError.self) { try await StandIn.start(configuration) }
    #expect(error?.code == "simulator_configuration")
  }

  @Test("stop ends a media call that is still waiting") func stopWhileWaiting() async throws {
    let folder = try TemporaryFolder()
    let standIn = try await StandIn.start(StandInConfiguration(dataFolder: folder.path))
    let router = Router(standIn.controlRoutes(prefix: "/x"))
    async let answer = router.respond(to: try HTTPRequest(.get, "/x/media/sample.png?delayMs=120000"))
    async let stopped: Void = standIn.stop()
    #expect(try await answer.status == 200)
    await stopped
  }
}
