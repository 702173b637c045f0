import PabalPrimitives

/// The only thread that writes. Calls that arrive while a commit is on its way share the next one.
///
/// A call that finds the thread idle starts at once; a commit takes further calls in for at most 2 ms.
struct SQLiteWriter {
  /// Runs inside the open transaction; the closure that it returns is told how the commit went.
  struct Job: Sendable {
    var perform: @Sendable (SQLiteConnection) -> @Sendable ((any Error)?) -> Void
  }

  let connection: SQLiteConnection
  let jobs: JobQueue<Job>
  let checkpoints: JobQueue<CheckpointRequest>
  /// Set by the checkpointer when only the writer can bring the log to its end.
  let isLastCheckpointDue: Locked<Bool>
  private var isCheckpointAsked = false

  init(
    connection: SQLiteConnection, jobs: JobQueue<Job>, checkpoints: JobQueue<CheckpointRequest>,
    isLastCheckpointDue: Locked<Bool>
  ) {
    self.connection = connection
    self.jobs = jobs
    self.checkpoints = checkpoints
    self.isLastCheckpointDue = isLastCheckpointDue
  }

  /// Returns when the queue is closed and empty.
  mutating func run() {
    while let job = jobs.take() {
      commit(startingWith: job)
      keepLogShort()
    }
    rest()
  }

  private func commit(startingWith first: Job) {
    do {
      try connection.run("BEGIN IMMEDIATE")
    } catch {
      fail(first, with: error)
      return
    }
    let start = Clock.system.monotonic()
    var done: [@Sendable ((any Error)?) -> Void] = []
    var next: Job? = first
    while let job = next {
      done.append(job.perform(connection))
      guard connection.isInTransaction else { break }
      let isFull = done.count >= SQLiteLimits.jobsPerCommit
      let isLate = start.duration(to: Clock.system.monotonic()) >= .milliseconds(SQLiteLimits.groupingMilliseconds)
      next = isFull || isLate ? nil : jobs.takeIfAny()
    }
    let failure = end()
    for tell in done { tell(failure) }
  }

  private func end() -> (any Error)? {
    guard connection.isInTransaction else {
      return SQLiteError(
        .inputOutput, "SQLite rolled the whole transaction back after a failure. Nothing of it was written; try again.")
    }
    do {
      try connection.run("COMMIT")
      return nil
    } catch {
      connection.rollBack()
      return error
    }
  }

  /// Lets the job see the failure through its own way of reporting, without having run.
  private func fail(_ job: Job, with error: any Error) {
    job.perform(connection)(error)
  }

  private mutating func keepLogShort() {
    let isDue = isLastCheckpointDue.withLock { due in
      defer { due = false }
      return due
    }
    if isDue {
      isCheckpointAsked = false
      // A failed checkpoint loses nothing: the log stays, and the next round tries again.
      do { try connection.checkpointPassively() } catch { return }
    } else if connection.logPages >= SQLiteLimits.checkpointPages, !isCheckpointAsked {
      isCheckpointAsked = checkpoints.push(CheckpointRequest()) == nil
    }
  }

  private func rest() {
    // Without it the log stays for the next start, which reads it.
    do { try connection.checkpointCompletely() } catch { return }
  }
}

/// Asks the checkpointer for one round.
struct CheckpointRequest: Sendable {}
