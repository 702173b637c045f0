import PabalPrimitives
import TestSupport
import Testing

/// Lists of devices: formats, variables, bad lines, repeated tokens.
@Suite struct CommandLineListTests {
  @Test("OC-93 a list with a bad and a repeated token: two sends, one error at its place") func partialSuccess()
    async throws
  {
    try await withCommandStage { stage in
      let (first, second) = (stage.tokens[0], stage.tokens[1])
      let list = stage.folder.file("list.txt")
      try TestFiles.write([first, "aaaa", second, first].joined(separator: "\n"), to: list)

      let refused = try await stage.send("--devices-file", list, "-b", "x", "--json")
      #expect(refused.code == 2)
      #expect(refused.errors.contains("1 line of \(list) cannot be used: 2."))
      #expect(try await stage.requests().isEmpty)

      let result = try await stage.send(
        "--devices-file", list, "-b", "x", "--skip-invalid", "--unique", "--json")
      #expect(result.code == 6, "\(result.errors)")
      let objects = try result.objects()
      let lines = try Self.byLine(objects)
      #expect(lines.count == 4)
      #expect(lines[1]?["state"]?.string == "accepted" && lines[3]?["state"]?.string == "accepted")
      #expect(
        lines[2].map { String(decoding: $0.bytes, as: UTF8.self) }
          == #"{"line":2,"device":"aaaa","state":"rejected","status":null,"reason":"device_token_invalid","#
          + #""apnsId":null,"apnsUniqueId":null,"attempts":0,"ms":0.0}"#)
      #expect(lines[4]?["state"]?.string == "canceled" && lines[4]?["reason"]?.string == "duplicate")
      #expect(objects.last?["duplicates"]?.int == 1)
      #expect(try await stage.inbox().count == 2)

      let flags = try await stage.send(
        "--device", first, "aaaa", second, first, "-b", "x", "--skip-invalid", "--unique", "--json")
      #expect(flags.code == 6)
      #expect(try await stage.inbox().count == 4)
    }
  }

  @Test func repeatedTokensAreToldAndSent() async throws {
    try await withCommandStage { stage in
      let list = stage.folder.file("list.txt")
      try TestFiles.write([stage.tokens[0], stage.tokens[0].uppercased()].joined(separator: "\n"), to: list)
      let told = try await stage.send("--devices-file", list, "-b", "x", "--json")
      #expect(told.code == 0)
      #expect(told.errors.contains("1 line repeats a token"))
      #expect(try told.objects().last?["duplicates"]?.int == 1)
      let untold = try await stage.send("--devices-file", list, "-b", "x", "--no-duplicate-check", "--json")
      #expect(untold.code == 0 && !untold.errors.contains("repeat"), "\(untold.errors)")
      #expect(try untold.objects().last?["duplicates"]?.isNull == true)
      let once = try await stage.send("--devices-file", list, "-b", "x", "--unique", "--json")
      #expect(once.code == 0, "leaving a repeat out is what was asked for")
      #expect(try await stage.inbox().count == 5)
    }
  }

  @Test func objectsFillThePayload() async throws {
    try await withCommandStage { stage in
      let token = stage.tokens[0]
      try TestFiles.write(
        "{\"aps\": {\"alert\": \"Hi {name}, {{x}\", \"badge\": \"{count}\"},\n \"raw\": 1.0, \"e\":\"{extra}\"}\n",
        to: stage.folder.file("push.json"))
      let id = "123e4567-e89b-42d3-a456-426614174000"
      let long = String(repeating: "a", count: 4096)
      try TestFiles.write(
        """
        {"device":"\(token)","variables":{"name":"\\"지원\\"","count":3,"extra":{"k":[1.50]}},"apnsId":"\(id)"}
        {"device":"\(token)","variables":{"name":"x","count":3},"collapseId":"c1"}
        {"device":"\(token)","variables":{"name":"x","count":"3","extra":null}}
        {"device":"\(token)","variables":{"name":"\(long)","count":3,"extra":null}}
        {"device":"\(token)","variables":{"name":"x","count":0,"extra":null},"collapseId":"c2"}
        """, to: stage.folder.file("list.ndjson"))
      let result = try await stage.send(
        "--devices-file", stage.folder.file("list.ndjson"), "--payload", stage.folder.file("push.json"), "--json")
      #expect(result.code == 6, "\(result.errors)")
      let lines = try Self.byLine(try result.objects())
      #expect(
        (1...5).map { lines[$0]?["reason"]?.string } == [
          nil, "variable_missing", "payload_invalid", "payload_too_large", nil,
        ])
      #expect(lines[1]?["apnsId"]?.string == id)
      #expect(lines[2]?["attempts"]?.int == 0)
      let inbox = try await stage.inbox()
      let texts = Set(try inbox.map(Self.payload))
      #expect(
        texts == [
          "{\"aps\": {\"alert\": \"Hi \\\"지원\\\", {x}\", \"badge\": 3},\n \"raw\": 1.0, \"e\":{\"k\":[1.50]}}",
          "{\"aps\": {\"alert\": \"Hi x, {x}\", \"badge\": 0},\n \"raw\": 1.0, \"e\":null}",
        ])
      #expect(inbox.contains { $0["collapseId"]?.string == "c2" })

      let dry = try await stage.send(
        "--devices-file", stage.folder.file("list.ndjson"), "--payload", stage.folder.file("push.json"), "--json",
        "--dry-run")
      #expect(dry.code == 6)
      let objects = try dry.objects()
      #expect(objects.count == 6, "a payload of two lines is one object on one line")
      #expect(objects.filter { $0["state"]?.string == "dry_run" }.count == 2)
      #expect(objects.last?["states"]?["dry_run"]?.int == 2)
      #expect(objects.last?["total"]?.int == 5)
      #expect(try await stage.requests().count == 2)
    }
  }

  @Test func columnsFillTitleAndText() async throws {
    try await withCommandStage { stage in
      let list = stage.folder.file("list.csv")
      try TestFiles.write(
        [0xEF, 0xBB, 0xBF] + Array("device,name\r\n\(stage.tokens[0]),\"Kim, \"\"J\"\"\"\r\n".utf8), to: list)
      let result = try await stage.send(
        "--devices-file", list, "-t", "{name}", "-b", "for {name}", "--link", "app://x/{name}", "--image",
        "https://a.example/p.png")
      #expect(result.code == 0, "\(result.errors)")
      #expect(
        try Self.payload(try #require(try await stage.inbox().first))
          == #"{"aps":{"alert":{"title":"Kim, \"J\"","body":"for Kim, \"J\""},"mutable-content":1},"#
          + #""link":"app://x/Kim, \"J\"","imageUrl":"https://a.example/p.png"}"#)
      let missing = try await stage.send("--devices-file", list, "-b", "{city}", "--json")
      #expect(missing.code == 6)
      #expect(missing.errors.contains("the payload asks for {city}, and the list has no such column"))
      #expect(try missing.objects()[0]["reason"]?.string == "variable_missing")
      // A list of tokens has no variables: nothing is substituted.
      let plain = try await stage.send("--device", stage.tokens[0], "-b", "{city}")
      #expect(plain.code == 0)
      #expect(try await stage.inbox().count == 2)
    }
  }

  @Test func aStreamIsSentAsItComes() async throws {
    try await withCommandStage { stage in
      let process = try ChildProcess(
        try TestFiles.pabal(),
        ["send"] + stage.target() + ["--devices-file", "-", "-b", "x", "--json=line,device,state,reason"],
        environment: stage.environment, keepsInputOpen: true)
      process.write(Array("\(stage.tokens[0])\n".utf8))
      #expect(
        await process.line(0) == #"{"line":1,"device":"\#(stage.tokens[0])","state":"accepted","reason":null}"#)
      process.write(Array("bad\n\n\(stage.tokens[1])".utf8))
      process.closeInput()
      let result = await process.result()
      #expect(result.code == 6, "\(result.errors)")
      let objects = try result.objects()
      let lines = try Self.byLine(objects)
      #expect(lines[2]?["reason"]?.string == "device_token_invalid")
      #expect(lines[2]?["device"]?.string == "bad")
      #expect(lines[4]?["state"]?.string == "accepted")
      #expect(objects.last?["duplicates"]?.isNull == true)
      let objectsOnly = try await stage.send(
        "--devices-file", "/dev/fd/0", "--format", "ndjson", "-b", "{n}", "--json",
        input: Array("{\"device\":\"\(stage.tokens[2])\",\"variables\":{\"n\":\"y\"}}\n".utf8))
      #expect(objectsOnly.code == 0, "\(objectsOnly.errors)")
    }
  }

  @Test("Ctrl-C ends a stream that says nothing") func interruptedStream() async throws {
    try await withCommandStage { stage in
      let process = try ChildProcess(
        try TestFiles.pabal(), ["send"] + stage.target() + ["--devices-file", "-", "-b", "x", "--json"],
        environment: stage.environment, keepsInputOpen: true)
      process.write(Array("\(stage.tokens[0])\n".utf8))
      #expect(await process.line(0)?.contains("accepted") == true)
      process.signal(2)
      let result = await process.result()
      #expect(result.code == 130)
      #expect(try result.objects().last?["total"]?.int == 1)
    }
  }

  static func byLine(_ objects: [JSONSlice]) throws -> [Int: JSONSlice] {
    var lines: [Int: JSONSlice] = [:]
    for object in objects {
      guard let line = object["line"]?.int else { continue }
      #expect(lines[line] == nil, "line \(line) has two objects")
      lines[line] = object
    }
    return lines
  }

  static func payload(_ item: JSONSlice) throws -> String {
    let bytes = try #require(item["payloadBase64"]?.string.flatMap { Base64.decode($0) })
    return String(decoding: bytes, as: UTF8.self)
  }
}
