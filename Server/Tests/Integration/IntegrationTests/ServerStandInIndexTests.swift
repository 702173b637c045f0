import PabalPrimitives
import PabalServer
import TestSupport
import Testing

/// The server's index of the stand-in's devices, `simulator/devices`: no more than there are, through churn and
/// restart.
@Suite struct ServerStandInIndexTests {
  private func lines(_ folder: String) throws -> Int {
    try TestFiles.read(folder + "/simulator/devices").count { $0 == UInt8(ascii: "\n") }
  }

  private func ids(_ stage: ServerStage) async throws -> [String: String] {
    let devices = try await stage.control("GET", "/v1/simulator/devices?limit=1000").json()["data"]?.elements ?? []
    let pairs = devices.compactMap { device in
      device["token"]?.string.flatMap { token in device["id"]?.string.map { (token, $0) } }
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  @Test("200 devices that come and go leave a bounded file; after a restart it names what is registered, as before")
  func churn() async throws {
    try await withTemporaryFolder { folder in
      let configuration = UpConfiguration(folder: .kept(folder), port: 0)
      let tokens = (0..<200).map { Hex.encode(Randomness.seeded(UInt64($0)).fill(32)) }
      let kept = Locked<[String: String]>([:])
      try await withServer(configuration) { stage in
        let demo = stage.line.users.flatMap(\.devices).count
        let bound = StandInIndexLimits.lines(living: demo + 1)
        for (number, token) in tokens.enumerated() {
          #expect(try await stage.registerByGuide("u", token: token).status == 200)
          try #require(try lines(folder) <= bound, "after \(number + 1) devices")
          guard number + 1 < tokens.count else { break }
          let gone = try await stage.api(
            "POST", "/api/push/unregister", ["userId": "u", "deviceToken": .string(token)])
          #expect(gone.status == 200, "\(gone.text)")
        }
        let all = try await ids(stage)
        let living = stage.line.users.flatMap(\.devices).map(\.token) + tokens.suffix(1)
        kept.withLock { $0 = all.filter { living.contains($0.key) } }
        #expect(kept.withLock { $0.count } == demo + 1)
      }
      // As a kill in the middle of a line would leave it.
      let text = String(decoding: try TestFiles.read(folder + "/simulator/devices"), as: UTF8.self)
      try TestFiles.write(text + "00112233", to: folder + "/simulator/devices")
      let named = kept.withLock { $0 }
      for _ in 0..<2 {
        try await withServer(configuration) { stage in
          let found = try await ids(stage)
          #expect(found == named)
          #expect(try lines(folder) == named.count)
        }
      }
    }
  }
}
