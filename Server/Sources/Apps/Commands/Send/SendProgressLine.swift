package import PabalPrimitives

/// The progress of a run on standard error, and who else speaks there meanwhile: a bar is taken away before other words
/// and drawn again after them.
package final class SendProgressLine: Sendable {
  private let progress: Locked<SendProgress>
  private let errors: CommandOutput
  private let clock: Clock

  package init(_ progress: SendProgress, errors: CommandOutput, clock: Clock) {
    self.progress = Locked(progress)
    self.errors = errors
    self.clock = clock
  }

  package func update(done: Int, rejected: Int) {
    progress.withLock { progress in
      let text = progress.update(done: done, rejected: rejected, now: clock.monotonic(), wall: clock.wall())
      if let text { errors.text(text) }
    }
  }

  /// For what comes after it.
  package func clear() {
    progress.withLock { progress in
      if let text = progress.finish() { errors.text(text) }
    }
  }

  /// One line of words.
  package func say(_ text: String) {
    progress.withLock { progress in errors.line((progress.finish() ?? "") + text) }
  }
}
