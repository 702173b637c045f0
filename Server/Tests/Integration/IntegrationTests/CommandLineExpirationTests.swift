import PabalPrimitives
import TestSupport
import Testing

/// `pabal send --expiration` against the stand-in, down to the header on the wire.
@Suite struct CommandLineExpirationTests {
  private static func now() -> Int { Int(Clock.system.wall().seconds) }

  /// Values of `apns-expiration`, one for each request.
  private func expirations(_ stage: CommandStage) async throws -> [String?] {
    try await stage.requests().map { request in
      let header = request["headers"]?.elements.first { $0.elements.first?.string == "apns-expiration" }
      return header?.elements.last?.string
    }
  }

  /// A JSON `null` has no form on a command line; FCM and Web Push do not exist yet.
  @Test("OC-34 expiration absent, 0, to come and past: no header, 0, the time, and nothing on the wire")
  func fourExpirations() async throws {
    try await withCommandStage { stage in
      let later = Self.now() + 3_600
      for (flags, header) in [
        ([], nil), (["--expiration", "0"], "0"), (["--expiration", "\(later)"], "\(later)"),
      ] as [([String], String?)] {
        let result = try await stage.pabal(
          ["send"] + stage.target() + ["--device", stage.tokens[0], "-b", "x", "--json"] + flags)
        #expect(result.code == 0, "\(flags): \(result.output)\(result.errors)")
        #expect(try await expirations(stage).last == .some(header), "\(flags)")
      }
      #expect(try await stage.inbox().map { $0["expiration"]?.int } == [nil, 0, later])

      let connections = try await stage.statistic("connections")
      for past in [Self.now() - 10, 1] {
        let result = try await stage.send(
          "--device", stage.tokens[0], stage.tokens[1], "-b", "x", "--expiration", "\(past)", "--json")
        #expect(result.code == 6, "\(result.output)\(result.errors)")
        let objects = try result.objects()
        try #require(objects.count == 3)
        for outcome in objects.dropLast() {
          #expect(outcome["state"]?.string == "expired")
          #expect(outcome["reason"]?.string == "ttl_elapsed")
          #expect(outcome["attempts"]?.int == 0)
          #expect(outcome["status"]?.isNull == true && outcome["apnsId"]?.isNull == true)
        }
        #expect(objects[2]["states"]?["expired"]?.int == 2)
        #expect(objects[2]["reasons"]?["ttl_elapsed"]?.int == 2)
      }
      #expect(try await stage.requests().count == 3)
      #expect(try await stage.statistic("connections") == connections, "not even a connection")
    }
  }

  @Test("OC-34 a dry run says of a time that has passed that nothing would be sent") func dryRun() async throws {
    try await withCommandStage { stage in
      let past = try await stage.send(
        "--device", stage.tokens[0], "-b", "x", "--expiration", "\(Self.now() - 10)", "--dry-run", "--json")
      #expect(past.code == 6)
      #expect(try past.objects()[0]["state"]?.string == "expired")
      let now = try await stage.send(
        "--device", stage.tokens[0], "-b", "x", "--expiration", "0", "--dry-run", "--json")
      #expect(now.code == 0)
      #expect(try now.objects()[0]["headers"]?["apns-expiration"]?.string == "0")
    }
  }

  @Test("OC-34 now or never: what APNs could not take at once is not brought later") func nowOrNever() async throws {
    try await withCommandStage { stage in
      try await stage.setFaults([["match": ["nth": 1], "then": ["status": 503, "reason": "ServiceUnavailable"]]])
      let result = try await stage.send(
        "--device", stage.tokens[0], "-b", "x", "--expiration", "0", "--retry", "3", "--json")
      #expect(result.code == 6, "\(result.output)\(result.errors)")
      let outcome = try result.objects()[0]
      #expect(outcome["state"]?.string == "expired")
      #expect(outcome["reason"]?.string == "apns.ServiceUnavailable")
      #expect(outcome["attempts"]?.int == 1)
      #expect(try await stage.requests().count == 1)
    }
  }
}
