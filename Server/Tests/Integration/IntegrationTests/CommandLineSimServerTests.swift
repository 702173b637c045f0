import PabalPrimitives
import PabalServer
import TestSupport
import Testing

/// `pabal sim …` at the API of a server, which wants its secret key.
@Suite struct CommandLineSimServerTests {
  private static let verbs: [[String]] = [
    ["devices"], ["add", "--count", "2"], ["fault", "--status", "503", "--times", "1"], ["fault", "--clear"], ["inbox"],
    ["requests"], ["stats"], ["clock", "--advance", "1m"], ["clock", "--mode", "real"], ["reset"],
  ]

  private func sim(
    _ folder: TemporaryFolder, _ words: [String], _ variables: [String: String] = [:]
  ) async throws -> ChildProcess.Result {
    try await ChildProcess.run(
      try TestFiles.pabal(), ["sim"] + words, environment: CommandStage.environment(folder).merging(variables) { $1 },
      folder: folder.path)
  }

  @Test("every verb finds the server that the environment names, and gives it the key")
  func environment() async throws {
    try await withServer { stage in
      let folder = try TemporaryFolder()
      let variables = ["PABAL_SERVER": stage.line.server, "PABAL_KEY": stage.line.testKey]
      for words in Self.verbs {
        let result = try await sim(folder, words, variables)
        #expect(result.code == 0, "\(words): \(result.errors)")
      }
      let known = stage.line.users.flatMap(\.devices).map(\.id)
      let listed = try await sim(folder, ["devices"], variables).lines.dropFirst().compactMap {
        $0.split(separator: "\t").first.map(String.init)
      }
      #expect(Set(known).isSubset(of: listed) && listed.count == known.count + 2)

      let named = ["--control", stage.line.server]
      #expect(try await sim(folder, ["devices"] + named, variables).code == 0, "the API named by hand is the same API")
      let keyless = try await sim(folder, ["devices"] + named)
      #expect(keyless.code == 4)
      #expect(keyless.errors.contains("PABAL_SERVER") && keyless.errors.contains("PABAL_KEY"), "\(keyless.errors)")
      for key in ["pb_test_nobody", stage.line.publishableKey] {
        let refused = try await sim(folder, ["devices"], variables.merging(["PABAL_KEY": key]) { $1 })
        #expect(refused.code == 4, "\(refused.errors)")
      }
      // Port 9 is for discarding (RFC 863); nobody has listened there for decades.
      let gone = try await sim(folder, ["devices"], variables.merging(["PABAL_SERVER": "http://127.0.0.1:9"]) { $1 })
      #expect(gone.code == 7)
      #expect(gone.errors.contains("http://127.0.0.1:9.") && gone.errors.contains("pabal up"), "\(gone.errors)")
    }
  }

  @Test("without a word the server of this folder is meant; a control API named by hand gets no key")
  func profile() async throws {
    let folder = try TemporaryFolder()
    let configuration = UpConfiguration(folder: .kept(folder.file("pabal-data")), port: 0)
    try await withServer(configuration) { stage in
      for words in Self.verbs {
        let result = try await sim(folder, words)
        #expect(result.code == 0, "\(words): \(result.errors)")
      }
      let other = try await sim(folder, ["stats"], ["PABAL_SIM_CONTROL": "http://127.0.0.1:\(stage.control.port)"])
      #expect(other.code == 0, "\(other.errors)")
      try TestFiles.write("{", to: folder.file("pabal-data/profile.json"))
      #expect(try await sim(folder, ["stats", "--control", "http://127.0.0.1:\(stage.control.port)"]).code == 0)
      let damaged = try await sim(folder, ["stats"])
      #expect(damaged.code == 2 && damaged.errors.contains("Restart `pabal up`"), "\(damaged.errors)")
    }
  }

  @Test func countsAreShownByNameAndAsTheyCome() async throws {
    try await withCommandStage { stage in
      let control = ["--control", try #require(stage.ready["control"]?.string)]
      #expect(try await stage.send("--device", stage.tokens[0], "-b", "x").code == 0)
      #expect(try await stage.send("--device", String(repeating: "ff", count: 32), "-b", "x").code == 6)
      let table = try await stage.pabal(["sim", "stats"] + control)
      #expect(table.lines.first == "COUNT\tVALUE")
      for line in ["taken\t1", "requests\t2", "byStatus.200\t1", "byStatus.400\t1", "byReason.BadDeviceToken\t1"] {
        #expect(table.lines.contains(line), "\(line): \(table.output)")
      }
      let picked = try await stage.pabal(["sim", "stats", "--json=taken,pings"] + control)
      #expect(picked.output == "{\"taken\":1,\"pings\":0}\n")
    }
  }
}
