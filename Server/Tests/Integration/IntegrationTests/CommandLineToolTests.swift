import Cryptography
import PabalPrimitives
import TestSupport
import Testing

/// Offline tools as a user runs them, beside other programs.
@Suite struct CommandLineToolTests {
  @Test func thePrintedCurlCommandIsAcceptedByTheStandIn() async throws {
    try await withCommandStage { stage in
      let payload = stage.folder.file("my push.json")
      try TestFiles.write("{\"aps\":{\"alert\":{\"title\":\"안녕\",\"body\":\"it's\"}}}\n", to: payload)
      let target = try stage.target()
      let printed = try await stage.pabal(
        ["payload", "curl", payload] + target + ["--device", stage.tokens[0], "--collapse-id", "a 'b'"])
      #expect(printed.code == 0, "\(printed.errors)")
      #expect(!printed.output.contains("bearer ey"))
      let folder = try TestFiles.pabal().split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
      let run = try await ChildProcess.run(
        "/bin/bash", ["-c", printed.output],
        environment: stage.environment.merging(["PATH": "\(folder):/usr/bin:/bin", "no_proxy": "127.0.0.1"]) { $1 })
      #expect(run.output.hasPrefix("HTTP/2 200"), "\(run.output) \(run.errors)")
      let push = try #require(try await stage.inbox().first)
      #expect(push["collapseId"]?.string == "a 'b'")
      #expect(push["payload"]?["aps"]?["alert"]?["body"]?.string == "it's")
    }
  }

  @Test func thePrintedCurlCommandShowsACertificate() async throws {
    try await withCommandStage { stage in
      let payload = stage.folder.file("push.json")
      try TestFiles.write("{\"aps\":{\"alert\":\"x\"}}", to: payload)
      let pem = try (TestFiles.read(stage.apns("certFile")), TestFiles.read(stage.apns("certKeyFile")))
      let identity = try PEMIdentity.read(certificate: pem.0, key: pem.1, passphrase: nil)
      // A colon in its name is none before a passphrase.
      let locked = stage.folder.file("my:push.p12")
      try TestFiles.write(try PKCS12.write(identity, passphrase: "open 's'", friendlyName: "x"), to: locked)
      let passphrase = stage.folder.file("pass phrase")
      try TestFiles.write("open 's'\n", to: passphrase)
      let way = try [
        "--topic", stage.apns("topic"), "--endpoint", stage.apns("sandbox"), "--ca", stage.apns("caFile"), "--device",
        stage.tokens[0],
      ]
      for credential in try [
        ["--p12", stage.apns("p12File")], ["--cert", stage.apns("certFile"), "--key", stage.apns("certKeyFile")],
        ["--p12", locked, "--passphrase-file", passphrase],
      ] {
        let printed = try await stage.pabal(["payload", "curl", payload] + credential + way)
        #expect(printed.code == 0, "\(printed.errors)")
        #expect(!printed.output.contains("open ") && !printed.output.contains("authorization"))
        let run = try await ChildProcess.run(
          "/bin/bash", ["-c", printed.output],
          environment: stage.environment.merging(["no_proxy": "127.0.0.1"]) { $1 })
        #expect(run.output.hasPrefix("HTTP/2 200"), "\(credential): \(run.output) \(run.errors)")
      }
      #expect(try await stage.inbox().count == 3)
      for (credential, expected) in [
        (["--p12", "a.p12", "--p8", "b.p8"], "not both"), (["--p12", "a.p12", "--key", "b"], "--key goes with --cert"),
        (["--cert", "a", "--passphrase-file", "-"], "must be a file here"), ([], "--p8 is missing"),
      ] {
        let refused = try await stage.pabal(["payload", "curl", payload] + credential + way)
        #expect(refused.code == 2 && refused.output.isEmpty)
        #expect(refused.errors.contains(expected), "\(refused.errors)")
      }
    }
  }

  @Test func standardInputIsRead() async throws {
    let folder = try TemporaryFolder()
    let environment = CommandStage.environment(folder)
    let run = { (words: [String], input: String) in
      try await ChildProcess.run(
        try TestFiles.pabal(), words, environment: environment, folder: folder.path, input: Array(input.utf8))
    }
    let lint = try await run(["payload", "lint", "-"], "{\"aps\":{\"alert\":1}}")
    #expect(lint.code == 2 && lint.output.hasPrefix("stdin:1:17: error: aps.alert: "))
    #expect(try await run(["devices", "check-token"], String(repeating: "ab", count: 32)).code == 0)
    #expect(try await run(["jwt", "inspect"], "no token").code == 2)
    let inline = try await run(
      [
        "payload", "curl", "-", "--p8", "k.p8", "--team", "TEAM123456", "--topic", "com.example.app", "--environment",
        "sandbox", "--device", String(repeating: "ab", count: 32),
      ], "{\"aps\":{\"alert\":\"x\"}}")
    #expect(inline.output.contains("--data-binary '{\"aps\":{\"alert\":\"x\"}}'"))
  }

  @Test func bashParsesTheCompletionAndItOffersWhatFits() async throws {
    let folder = try TemporaryFolder()
    let environment = CommandStage.environment(folder)
    let script = try await ChildProcess.run(try TestFiles.pabal(), ["completion", "bash"], environment: environment)
    let path = folder.file("pabal.bash")
    try TestFiles.write(script.output, to: path)
    #expect(try await ChildProcess.run("/bin/bash", ["-n", path], environment: environment).code == 0)
    for (line, expected) in [
      ("pabal ", "up send why"), ("pabal sim f", "fault"), ("pabal send --devi", "--device --devices-file"),
      ("pabal payload lint --push-type voi", "voip"), ("pabal completion f", "fish"),
      ("pabal explain apns.Unr", "apns.Unregistered apns.UnrelatedKeyIdInToken"),
      ("pabal send --p8 ", ""),
    ] {
      // What bash does at the tabulator key.
      let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
      let ask = """
        source '\(path)'; COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
        _pabal; echo "${COMPREPLY[*]}"
        """
      let result = try await ChildProcess.run("/bin/bash", ["-c", ask], environment: environment)
      #expect(result.errors.isEmpty, "\(line): \(result.errors)")
      #expect(result.output.hasPrefix(expected), "\(line): \(result.output)")
      if expected.isEmpty { #expect(result.output == "\n") }
    }
    #expect(
      try await ChildProcess.run(try TestFiles.pabal(), ["completion", "csh"], environment: environment).code == 2)
  }

  @Test func onlyTheStandInTellsTheSecretsOfItsSessions() async throws {
    let folder = try TemporaryFolder()
    let files = ["server.keys", "client.keys"].map { folder.file($0) }
    let environments = files.map { CommandStage.environment(folder).merging(["SSLKEYLOGFILE": $0]) { $1 } }
    let process = try ChildProcess(
      try TestFiles.pabal(),
      [
        "sim", "serve", "--sandbox-port", "0", "--production-port", "0", "--control-port", "0", "--json", "--data",
        folder.file("sim"),
      ], environment: environments[0], keepsInputOpen: true)
    let ready = try JSONSlice(parsing: Array(try #require(await process.line(0)).utf8))
    let apns = { (name: String) in try #require(ready["apns"]?[name]?.string) }
    let way = try ["--endpoint", apns("sandbox"), "--ca", apns("caFile")]
    #expect(try await ChildProcess.run(try TestFiles.pabal(), ["doctor"] + way, environment: environments[1]).code == 0)
    process.closeInput()
    let end = await process.result()
    #expect(end.code == 0 && end.errors.contains("SSLKEYLOGFILE"))
    let secrets = String(decoding: try TestFiles.read(files[0]), as: UTF8.self)
    #expect(secrets.contains("CLIENT_TRAFFIC_SECRET_0 "))
    #expect(throws: TestFiles.Failure.self) { try TestFiles.read(files[1]) }
  }

  @Test func aScenarioATokenFileAndNoLogAreTakenAtTheStart() async throws {
    let folder = try TemporaryFolder()
    try TestFiles.write(#"{"rules":[{"then":{"status":503,"reason":"Shutdown"}}]}"#, to: folder.file("bad-day.json"))
    let process = try ChildProcess(
      try TestFiles.pabal(),
      [
        "sim", "serve", "--sandbox-port", "0", "--production-port", "0", "--control-port", "0", "--json", "--data",
        folder.file("sim"), "--devices", "150", "--devices-out", folder.file("tokens.txt"), "--scenario",
        folder.file("bad-day.json"), "--log", "none",
      ], environment: CommandStage.environment(folder), keepsInputOpen: true)
    let ready = try JSONSlice(parsing: Array(try #require(await process.line(0)).utf8))
    #expect(ready["devices"]?.elements.count == 100)
    let tokens = String(decoding: try TestFiles.read(folder.file("tokens.txt")), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    #expect(tokens.count == 150 && Set(tokens).count == 150)
    #expect(tokens.prefix(100) == (ready["devices"]?.elements ?? []).compactMap { $0["token"]?.string }[...])
    let apns = { (name: String) in try #require(ready["apns"]?[name]?.string) }
    let send = try await ChildProcess.run(
      try TestFiles.pabal(),
      try [
        "send", "--p8", apns("keyFile"), "--key-id", apns("keyId"), "--team", apns("teamId"), "--topic",
        apns("topic"), "--endpoint", apns("sandbox"), "--ca", apns("caFile"), "--device", tokens[149], "-b", "x",
        "--retry", "0",
      ], environment: CommandStage.environment(folder))
    #expect(send.code == 6)
    let control = try ServerCaller(try #require(ready["control"]?.string))
    #expect(try await control("GET", "/v1/simulator/requests").json()["data"]?.elements.isEmpty == true)
    #expect(try await control("GET", "/v1/simulator/stats").json()["requests"]?.int == 1)
    process.closeInput()
    #expect(await process.result().code == 0)
  }

  @Test(arguments: [
    (["--scenario", "absent.json"], "no such file"), (["--log", "all"], "--log must be requests or none"),
    (["--host", "0.0.0.0"], "--allow-remote"), (["--devices", "2000000"], "0 to 1000000"),
    (["--sandbox-port", "many"], "0 to 65535"), (["--devices-out", "/no/such/folder/tokens"], "cannot be written"),
  ])
  func aStandInThatCannotStartSaysWhy(flags: [String], expected: String) async throws {
    let folder = try TemporaryFolder()
    let free = ["--sandbox-port", "0", "--production-port", "0", "--control-port", "0"]
    let words =
      ["sim", "serve", "--data", folder.file("sim")] + (flags[0] == "--sandbox-port" ? Array(free.dropFirst(2)) : free)
    let result = try await ChildProcess.run(
      try TestFiles.pabal(), words + flags, environment: CommandStage.environment(folder), folder: folder.path)
    #expect(result.code == 2)
    #expect(result.errors.contains(expected), "\(result.errors)")
    #expect(result.output.isEmpty)
  }
}
