import FuzzTargets
import TestSupport
import Testing

/// Every input that was ever found worth keeping, past crashes included.
@Suite struct CorpusTests {
  @Test("each file of the corpus keeps the rules of its target", arguments: FuzzTarget.allCases)
  func replay(target: FuzzTarget) async throws {
    let names = try TestFiles.fixtures(in: "corpus/\(target.rawValue)")
    #expect(names.count >= 5)
    for name in names {
      let bytes = try TestFiles.fixture("corpus/\(target.rawValue)/\(name)")
      do {
        try await target.run(bytes)
      } catch {
        Issue.record("\(target.rawValue)/\(name): \(error)")
      }
    }
  }
}
