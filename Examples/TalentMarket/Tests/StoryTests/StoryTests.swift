import Foundation
import PabalPrimitives
import TalentMarketStory
import Testing

@Suite(.serialized) struct StoryTests {
  init() {
    // A proxy of the environment would catch calls to this machine itself.
    setenv("no_proxy", "127.0.0.1,localhost,::1", 1)
  }

  @Test func `there is a pabal to tell the story with`() {
    #expect(FileManager.default.isExecutableFile(atPath: pabal), "run make build first, or set PABAL_BIN")
  }

  @Test(arguments: [1, 20_261_130, 7_777_777] as [UInt64])
  func `the story holds`(seed: UInt64) async throws {
    let told = Locked<[String]>([])
    try await MarketStory(
      MarketStory.Configuration(pabal: pabal, seed: seed) { line in told.withLock { $0.append(line) } }
    ).run()
    #expect(told.withLock { $0.count { $0.hasPrefix("✓") } } == StoryStep.allCases.count)
  }

  @Test(arguments: Sabotage.allCases)
  func `a broken part ends the story and names the step`(sabotage: Sabotage) async throws {
    var configuration = MarketStory.Configuration(pabal: pabal, seed: 42, sabotage: sabotage)
    configuration.patience = .seconds(8)
    let failure = await #expect(throws: StoryFailure.self) { try await MarketStory(configuration).run() }
    #expect(failure?.step == sabotage.failingStep, "\(failure.map { "\($0)" } ?? "nothing")")
  }
}

@Suite struct StoryCastTests {
  @Test func `the same seed gives the same cast, another one another`() {
    #expect(StoryCast(seed: 5) == StoryCast(seed: 5))
    #expect(StoryCast(seed: 5) != StoryCast(seed: 6))
  }
}
