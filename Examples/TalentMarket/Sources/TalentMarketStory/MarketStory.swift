import Foundation
import PabalPrimitives
import PabalSimulation

/// The guides' whole loop, told on real parts: a phone, the app, Pabal's server and its stand-in for Apple.
///
/// Each step asserts against what the stand-in and the phone have recorded themselves. The first expectation that is
/// not met ends the story with a `StoryFailure` that names the step.
public struct MarketStory: Sendable {
  public struct Configuration: Sendable {
    /// Path of the `pabal` program.
    public var pabal: String
    public var seed: UInt64
    public var sabotage: Sabotage?
    /// Real time that any one wait may take.
    public var patience = Duration.seconds(15)
    /// Hears each line of the story as it happens.
    public var tell: @Sendable (String) -> Void

    public init(
      pabal: String, seed: UInt64, sabotage: Sabotage? = nil, tell: @escaping @Sendable (String) -> Void = { _ in }
    ) {
      self.pabal = pabal
      self.seed = seed
      self.sabotage = sabotage
      self.tell = tell
    }
  }

  public let configuration: Configuration
  public let cast: StoryCast

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    cast = StoryCast(seed: configuration.seed)
  }

  /// Tells the story. Throws `StoryFailure`.
  ///
  /// - Parameter afterwards: runs while everything is still up.
  public func run(afterwards: @Sendable (PabalLinks) async -> Void = { _ in }) async throws {
    let servers = try await step(.startPabal) { _ in
      try await PabalServers.start(
        pabal: configuration.pabal, trustsOther: configuration.sabotage == .wrongAuthority,
        patience: configuration.patience)
    }
    do {
      try await tell(servers.links)
      await afterwards(servers.links)
    } catch {
      await servers.stop()
      throw error
    }
    await servers.stop()
  }

  private func tell(_ links: PabalLinks) async throws {
    let receiver = try StoryPhone(links: links, sabotage: configuration.sabotage)
    defer { receiver.removeFiles() }
    let scene = StoryScene(story: self, links: links, receiver: receiver)
    try await receiver.phone.run {
      try await scene.registration()
      try await scene.talentRequest()
      try await scene.imagePush()
      try await scene.chat()
      try await scene.buttons()
      try await scene.preferences()
      try await scene.uninstalledPhone()
      try await step(.noDefects) { _ in
        let defects = receiver.phone.defects
        try expect(defects.isEmpty, "the phone saw \(defects)")
      }
    }
  }

  /// Runs one step; what goes wrong inside gets the step's name.
  ///
  /// - Parameter body: gets a function for lines that are told below the step's title, once it has held.
  func step<Answer: Sendable>(
    _ step: StoryStep, _ body: (_ show: (String) -> Void) async throws -> Answer
  ) async throws -> Answer {
    var shown: [String] = []
    do {
      let answer = try await body { shown.append($0) }
      configuration.tell("✓ \(step.title)")
      for line in shown { configuration.tell(line.isEmpty ? "" : "    " + line) }
      return answer
    } catch let failure as StoryFailure {
      throw failure
    } catch {
      throw StoryFailure(step: step, reason: "\(error)")
    }
  }
}
