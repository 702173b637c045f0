import PabalPrimitives
import TestSupport
import Testing

/// `pabal sim devices|add|fault|inbox|requests|clock|reset` at the control API of a running stand-in.
@Suite struct CommandLineSimTests {
  private func sim(_ stage: CommandStage, _ words: String...) async throws -> ChildProcess.Result {
    try await stage.pabal(["sim"] + words + ["--control", try #require(stage.ready["control"]?.string)])
  }

  @Test func devicesAreListedChangedAndRemoved() async throws {
    try await withCommandStage { stage in
      let list = try await sim(stage, "devices")
      #expect(list.code == 0)
      #expect(list.lines.first == "ID\tTOKEN\tENVIRONMENT\tTOPIC\tSTATE\tONLINE")
      #expect(list.lines.count == 4)
      for token in stage.tokens {
        #expect(list.output.contains("\t\(token)\tsandbox\tcom.example.demo\tregistered\tyes"))
      }
      let id = try #require(list.lines.last?.split(separator: "\t").first.map(String.init))

      let gone = try await sim(stage, "devices", id, "--state", "unregistered", "--json")
      #expect(try gone.objects().first?["state"]?.string == "unregistered")
      let off = try await sim(stage, "devices", id, "--state", "registered", "--offline")
      #expect(off.lines.last?.hasSuffix("\tregistered\tno") == true)
      #expect(try await sim(stage, "devices", id).output == off.output)

      #expect(try await sim(stage, "devices", id, "--remove").code == 0)
      #expect(try await sim(stage, "devices").lines.count == 3)
      let lost = try await sim(stage, "devices", id)
      #expect(lost.code == 3)
      #expect(lost.errors.contains("no such device"))

      let page = try await sim(stage, "devices", "--limit", "1", "--json").objects()[0]
      #expect(page["data"]?.elements.count == 1)
      let cursor = try #require(page["nextCursor"]?.string)
      let next = try await sim(stage, "devices", "--cursor", cursor, "--json").objects()[0]
      #expect(next["data"]?.elements.count == 1 && next["nextCursor"]?.isNull == true)
    }
  }

  @Test func devicesAreAdded() async throws {
    try await withCommandStage(devices: 0) { stage in
      #expect(try await sim(stage, "add").lines.count == 2)
      let many = try await sim(stage, "add", "--count", "5", "--environment", "production", "--json").objects()
      #expect(many[0]["data"]?.elements.count == 5)
      #expect(many[0]["data"]?.elements.allSatisfy { $0["environment"]?.string == "production" } == true)
      let token = String(repeating: "0a", count: 32)
      let one = try await sim(
        stage, "add", "--token", token, "--id", "mine", "--topic", "com.example.other", "--offline")
      #expect(one.lines.last == "mine\t\(token)\tsandbox\tcom.example.other\tregistered\tno")
      let again = try await sim(stage, "add", "--token", token, "--id", "other", "--topic", "com.example.third")
      #expect(again.code == 5)
      #expect(again.errors.contains("token"))
      #expect(try await sim(stage, "add", "--state", "gone").code == 2)
      #expect(try await sim(stage, "add", "--token", "xyz").code == 2)
    }
  }

  @Test func inboxAndRequestsShowWhatHappened() async throws {
    try await withCommandStage { stage in
      #expect(try await stage.send("--device", stage.tokens[0], "-t", "안녕", "-b", "첫 푸시").code == 0)
      #expect(try await stage.send("--device", String(repeating: "ff", count: 32), "-b", "x").code == 6)
      let inbox = try await sim(stage, "inbox")
      #expect(inbox.lines.count == 2)
      #expect(inbox.lines[1].hasSuffix("\tdisplayed\talert\t안녕\t첫 푸시"))
      #expect(try await sim(stage, "inbox", "--token", stage.tokens[1]).lines.count == 1)
      let refused = try await sim(stage, "requests", "--status", "400")
      #expect(refused.lines.count == 2)
      #expect(refused.lines[1].contains("\t400\tBadDeviceToken\t"))
      let all = try await sim(stage, "requests", "--json").objects()[0]
      #expect(all["data"]?.elements.count == 2)
      #expect(try await sim(stage, "requests", "--since", "2100-01-01T00:00:00Z").lines.count == 1)
      #expect(try await sim(stage, "requests", "--since", "yesterday").code == 2)
    }
  }

  @Test func faultsAreSetListedAndCleared() async throws {
    try await withCommandStage { stage in
      let set = try await sim(stage, "fault", "--status", "410", "--times", "1", "--nth", "2")
      #expect(set.code == 0)
      #expect(set.lines.last?.hasPrefix("0\t0\t1\tnth=2\tstatus=410 reason=Unregistered") == true)
      for expected in [0, 6, 0] as [Int] {
        #expect(try await stage.send("--device", stage.tokens[0], "-b", "x").code == expected)
      }
      #expect(try await sim(stage, "fault").lines.last?.hasPrefix("0\t1\t1\t") == true)
      #expect(try await sim(stage, "fault", "--clear").lines.count == 1)

      try TestFiles.write(
        #"{"seed":3,"rules":[{"match":{"every":2},"then":{"status":429}},{"then":{"goaway":{"lastStream":"none"}}}]}"#,
        to: stage.folder.file("faults.json"))
      let listed = try await sim(stage, "fault", "--file", stage.folder.file("faults.json"), "--json").objects()[0]
      #expect(listed["seed"]?.int == 3 && listed["rules"]?.elements.count == 2)
    }
  }

  @Test(arguments: [
    (["--goaway=all", "--close", "never"], "goaway"), (["--reset", "REFUSED_STREAM", "--after", "taken"], "reset"),
    (["--drop", "afterTaken"], "drop"), (["--silence", "2s"], "silenceMs=2000"), (["--half-response"], "halfResponse"),
    (["--max-streams", "1"], "maxConcurrentStreams=1"), (["--slow-read", "100"], "slowRead"),
    (["--delay", "10ms", "--rate", "0.5"], "delayMs=10"),
  ])
  func everyKindOfFaultIsTaken(flags: [String], expected: String) async throws {
    try await withCommandStage { stage in
      let control = try #require(stage.ready["control"]?.string)
      let result = try await stage.pabal(["sim", "fault"] + flags + ["--control", control])
      #expect(result.code == 0, "\(result.errors)")
      #expect(result.lines.last?.contains(expected) == true, "\(result.output)")
    }
  }

  @Test(arguments: [
    (["--status", "503", "--drop", "afterTaken"], "one effect"), (["--reason", "Shutdown"], "needs a fault beside it"),
    (["--goaway", "--reason", "x"], "--reason goes with --status"), (["--clear", "--status", "500"], "one of them"),
    (["--rate", "2", "--status", "500"], "0 to 1"), (["--status", "99"], "200 to 599"),
    (["--reset", "NO_SUCH_CODE"], "rules[0].then.reset.code"), (["--file", "absent.json"], "no such file"),
  ])
  func badFaultsAreRefusedWithTheirPlace(flags: [String], expected: String) async throws {
    try await withCommandStage(devices: 0) { stage in
      let control = try #require(stage.ready["control"]?.string)
      let result = try await stage.pabal(["sim", "fault"] + flags + ["--control", control])
      #expect(result.code == 2)
      #expect(result.errors.contains(expected), "\(result.errors)")
      #expect(result.output.isEmpty)
    }
  }

  @Test func theClockMovesAndTheStandInForgets() async throws {
    try await withCommandStage { stage in
      let set = try await sim(stage, "clock", "--set", "2027-01-01T00:00:00Z", "--json").objects()[0]
      let start = try #require(WallTime(rfc3339: "2027-01-01T00:00:00Z")).milliseconds
      #expect(Int64(set["now"]?.int ?? 0) >= start)
      #expect(try await sim(stage, "clock", "--mode", "manual").output.hasSuffix("\tmanual\n"))
      let before = try #require(try await sim(stage, "clock", "--json").objects()[0]["now"]?.int)
      let after = try await sim(stage, "clock", "--advance", "61m", "--json").objects()[0]
      #expect(after["now"]?.int == before + 61 * 60_000)
      #expect(try await sim(stage, "clock", "--advance", "1m", "--mode", "real").code == 2)
      #expect(try await sim(stage, "clock", "--mode", "slow").code == 2)

      #expect(try await sim(stage, "reset").code == 0)
      #expect(try await sim(stage, "devices").lines.count == 4)
      let answer = try await sim(stage, "reset", "--devices", "--json").objects()[0]
      #expect(answer["devices"]?.bool == true)
      #expect(try await sim(stage, "devices").lines.count == 1)
    }
  }

  @Test func theStandInIsFoundByFlagOrVariable() async throws {
    try await withCommandStage { stage in
      let control = try #require(stage.ready["control"]?.string)
      let found = try await ChildProcess.run(
        try TestFiles.pabal(), ["sim", "devices"],
        environment: stage.environment.merging(["PABAL_SIM_CONTROL": control + "/"]) { $1 })
      #expect(found.lines.count == 4)
      let address = try #require(stage.ready["apns"]?["sandbox"]?.string).dropFirst("https://".count)
      // Port 9 is for discarding (RFC 863); nobody has listened there for decades.
      for (url, code) in [("http://127.0.0.1:9", 7), ("http://\(address)", 7), ("ftp://x", 2), ("http://x y", 2)] {
        let result = try await stage.pabal(["sim", "devices", "--control", url])
        #expect(result.code == code, "\(url): \(result.errors)")
        #expect(result.errors.contains(url.hasPrefix("http://127") ? "stand-in" : "--control"), "\(result.errors)")
      }
      let named = try await ChildProcess.run(
        try TestFiles.pabal(), ["sim", "devices"],
        environment: stage.environment.merging(["PABAL_SIM_CONTROL": "nonsense"]) { $1 })
      #expect(named.code == 2 && named.errors.contains("PABAL_SIM_CONTROL"))
    }
  }
}
