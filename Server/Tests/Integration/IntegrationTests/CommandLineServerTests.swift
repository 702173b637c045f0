import PabalPrimitives
import PabalServer
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite struct CommandLineServerTests {
  @Test func upSendWhyStatusAndTheGracefulEnd() async throws {
    let folder = try TemporaryFolder()
    let environment = CommandStage.environment(folder)
    let pabal = try TestFiles.pabal()
    let server = try ChildProcess(
      pabal, ["up", "--port", "0", "--json"], environment: environment, folder: folder.path, keepsInputOpen: true)
    let line = try #require(await server.line(0))
    let ready = try JSONSlice(parsing: Array(line.utf8))
    #expect(ready["users"]?.elements.count == 3)
    func run(_ words: String..., language: String = "en") async throws -> ChildProcess.Result {
      var variables = environment
      variables["PABAL_LANG"] = language
      return try await ChildProcess.run(pabal, words, environment: variables, folder: folder.path)
    }
    let sent = try await run("send", "--user", "demo-jiwon", "-t", "안녕", "-b", "첫 푸시", "--wait", "--json")
    #expect(sent.code == 0, "\(sent.errors)")
    let message = try #require(try sent.objects().first?["id"]?.string)
    let why = try await run("why", "demo-jiwon", message)
    #expect(why.code == 0)
    #expect(why.output.contains("not_confirmed"))
    #expect(why.output.contains("✓ attempt"))
    #expect(try await run("why", "demo-jiwon", language: "ko").output.contains("할 수 있는 일"))
    let explained = try #require(try await run("why", "demo-jiwon", message, "--json=answer,reason").objects().first)
    #expect(explained["answer"]?.string == "provider_accepted")
    #expect(try await run("why", "somebody").code == 3)
    #expect(try await run("status").code == 0)
    let second = try await run("up", "--json")
    #expect(second.code == 0)
    #expect(try second.objects().first?["server"]?.string == ready["server"]?.string)
    server.signal(SIGTERM)
    #expect(await server.result().code == 0)
    let gone = try await run("status")
    #expect(gone.code == 7)
    #expect(gone.errors.contains("pabal up"))
  }

  @Test("a server that a program started ends with it: its standard input is a pipe that closes")
  func upEndsWithItsParent() async throws {
    let folder = try TemporaryFolder()
    let server = try ChildProcess(
      try TestFiles.pabal(), ["up", "--ephemeral", "--port", "0", "--json"],
      environment: CommandStage.environment(folder), folder: folder.path, keepsInputOpen: true)
    let line = try #require(await server.line(0))
    let data = try #require(try JSONSlice(parsing: Array(line.utf8))["data"]?.string)
    #expect(access(data, F_OK) == 0)
    server.closeInput()
    #expect(await server.result().code == 0)
    #expect(access(data, F_OK) != 0, "an ephemeral folder goes with the server")
  }

  @Test func aRefusedKeyIsExitCode4() async throws {
    try await withServer { stage in
      let folder = try TemporaryFolder()
      var environment = CommandStage.environment(folder)
      environment["PABAL_SERVER"] = stage.line.server
      environment["PABAL_KEY"] = "pb_test_nobody"
      let result = try await ChildProcess.run(
        try TestFiles.pabal(), ["why", "demo-jiwon"], environment: environment, folder: folder.path)
      #expect(result.code == 4, "\(result.errors)")
      environment["PABAL_KEY"] = nil
      let keyless = try await ChildProcess.run(
        try TestFiles.pabal(), ["status"], environment: environment, folder: folder.path)
      #expect(keyless.code == 2)
      #expect(keyless.errors.contains("PABAL_KEY"))
    }
  }
}
