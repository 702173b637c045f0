import PabalPrimitives
import Simulator
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct StandInFolderTests {
  private func mode(_ path: String) -> UInt32? {
    var status = stat()
    return stat(path, &status) == 0 ? UInt32(status.st_mode) & 0o777 : nil
  }

  @Test("authority and key are made once, 0600, and survive a restart") func survives() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("deep/simulator")
    let first = try await StandIn.start(StandInConfiguration(dataFolder: path))
    await first.stop()
    let line = first.readyLine
    let files = [line.caFile, line.keyFile, path + "/ca-key.pem", line.p12File, line.certFile, line.certKeyFile]
    let before = try files.map { try TestFiles.read($0) }
    for file in files { #expect(mode(file) == 0o600) }
    #expect(mode(path) == 0o700)
    #expect(first.readyLine.keyFile == "\(path)/AuthKey_\(first.readyLine.keyID).p8")
    #expect(first.readyLine.keyID.count == 10)
    let second = try await StandIn.start(StandInConfiguration(dataFolder: path))
    await second.stop()
    #expect(try files.map { try TestFiles.read($0) } == before)
    #expect(second.readyLine.keyID == first.readyLine.keyID)
  }

  @Test("a client certificate is made anew for another app, another authority, and when it cannot be read")
  func clientCertificate() async throws {
    let folder = try TemporaryFolder()
    func certificate(_ topic: String) async throws -> [UInt8] {
      var configuration = StandInConfiguration(dataFolder: folder.path)
      configuration.topic = topic
      let standIn = try await StandIn.start(configuration)
      await standIn.stop()
      return try TestFiles.read(standIn.readyLine.certFile)
    }
    let first = try await certificate("com.example.one")
    #expect(try await certificate("com.example.one") == first)
    let second = try await certificate("com.example.two")
    #expect(second != first)
    try TestFiles.write("spoiled", to: folder.file("push-cert.pem"))
    let third = try await certificate("com.example.two")
    #expect(third != second)
    unlink(folder.file("ca.pem"))
    unlink(folder.file("ca-key.pem"))
    #expect(try await certificate("com.example.two") != third)
  }

  @Test("a folder named from here is printed from the root") func relative() async throws {
    let folder = try TemporaryFolder()
    let current = try #require(getcwd(nil, 0))
    defer { free(current) }
    let here = String(cString: current)
    let name = String(repeating: "../", count: here.split(separator: "/").count) + folder.path.dropFirst() + "/sim"
    let standIn = try await StandIn.start(StandInConfiguration(dataFolder: name))
    await standIn.stop()
    #expect(standIn.readyLine.caFile == "\(here)/\(name)/ca.pem")
    #expect(mode(folder.file("sim/ca.pem")) == 0o600)
  }

  @Test("a file that is not ours is an error that names the remedy") func spoiled() async throws {
    let folder = try TemporaryFolder()
    try TestFiles.write("not a key", to: folder.file("AuthKey_ABCDEFGHJK.p8"))
    let error = await #expect(throws: StandInError.self) {
      try await StandIn.start(StandInConfiguration(dataFolder: folder.path))
    }
    #expect(error?.code == "simulator_credentials")
    #expect(error?.message.contains("remove the .p8 file") == true)

    let other = try TemporaryFolder()
    try TestFiles.write("not a certificate", to: other.file("ca.pem"))
    try TestFiles.write("not a key", to: other.file("ca-key.pem"))
    let second = await #expect(throws: StandInError.self) {
      try await StandIn.start(StandInConfiguration(dataFolder: other.path))
    }
    #expect(second?.message.contains("remove ca.pem") == true)

    let third = await #expect(throws: StandInError.self) {
      try await StandIn.start(StandInConfiguration(dataFolder: other.file("ca.pem/inside")))
    }
    #expect(third?.code == "simulator_data")
  }
}
