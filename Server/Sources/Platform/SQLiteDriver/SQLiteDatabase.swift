#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
import PabalPrimitives

/// A database file with one writing thread, some reading threads and one that keeps the log short.
///
/// `write` returns after its commit is on the disk (`synchronous=FULL`). `read` sees every commit whose `write` has
/// returned. Neither runs on Swift's cooperative pool.
package final class SQLiteDatabase: Sendable {
  private let writes = JobQueue<SQLiteWriter.Job>(limit: SQLiteLimits.queuedJobs)
  private let reads = JobQueue<ReadJob>(limit: SQLiteLimits.queuedJobs)
  private let checkpoints = JobQueue<CheckpointRequest>(limit: 2)
  private let isLastCheckpointDue = Locked(false)
  private let readerEnds = Locked<[Latch]>([])
  private let writerEnd = Locked<Latch?>(nil)
  private let path: String
  private let readLimit: Duration
  private let onRead: (@Sendable () -> Void)?

  private typealias ReadJob = @Sendable (SQLiteConnection) -> Void

  private init(path: String, readLimit: Duration, onRead: (@Sendable () -> Void)?) {
    self.path = path
    self.readLimit = readLimit
    self.onRead = onRead
  }

  /// The threads end, also those of a database that nobody closed.
  deinit {
    reads.close()
    checkpoints.close()
    writes.close()
  }

  /// - Parameters:
  ///   - readers: connections that read, each with its thread.
  ///   - readLimit: a call of `read` that takes longer is ended with `interrupted`.
  ///   - onRead: called before each statement of a `read`.
  ///   - prepare: runs on the writing connection before anything else, for migrations.
  package static func open(
    path: String, readers: Int, readLimit: Duration = SQLiteLimits.readLimit, onRead: (@Sendable () -> Void)? = nil,
    prepare: @escaping @Sendable (SQLiteConnection) throws -> Void
  ) async throws -> SQLiteDatabase {
    let database = SQLiteDatabase(path: path, readLimit: readLimit, onRead: onRead)
    do {
      try await database.startWriter(prepare: prepare)
      try await database.startCheckpointer()
      for _ in 0..<readers { try await database.startReader() }
    } catch {
      await database.close()
      throw error
    }
    return database
  }

  /// Looks into an existing file on a thread of its own and changes no byte of it; `nil` when there is no file.
  package static func inspect<Value: Sendable>(
    path: String, _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
  ) async throws -> Value? {
    guard access(path, F_OK) == 0 else { return nil }
    return try await withCheckedThrowingContinuation { continuation in
      do {
        try DatabaseThread.start {
          continuation.resume(with: Result { try body(try SQLiteConnection(path: path, role: .inspector)) })
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// All of `body` or nothing of it, in a commit that it may share with other calls.
  package func write<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let job = SQLiteWriter.Job { connection in
        let outcome = Self.attempt(body, on: connection)
        return { failure in continuation.resume(with: failure.map(Result.failure) ?? outcome) }
      }
      if let refusal = writes.push(job) { continuation.resume(throwing: Self.error(for: refusal)) }
    }
  }

  /// One consistent view for all of `body`, for a limited time.
  package func read<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let refusal = reads.push { [readLimit] connection in
        continuation.resume(with: Result { try Self.view(connection, limit: readLimit, body) })
      }
      if let refusal { continuation.resume(throwing: Self.error(for: refusal)) }
    }
  }

  /// Finishes what was asked for, empties the log and closes the file.
  package func close() async {
    reads.close()
    checkpoints.close()
    for end in readerEnds.withLock({ $0 }) { await end.wait() }
    writes.close()
    await writerEnd.withLock { $0 }?.wait()
  }

  // MARK: Threads

  /// Starts a thread that opens a connection, reports whether that worked, then does `work` until its queue ends.
  private func start(
    _ end: Latch, role: SQLiteConnection.Role, prepare: @escaping @Sendable (SQLiteConnection) throws -> Void,
    work: @escaping @Sendable (SQLiteConnection) -> Void
  ) async throws {
    let path = path
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      do {
        try DatabaseThread.start {
          defer { end.open() }
          do {
            let connection = try SQLiteConnection(path: path, role: role)
            try prepare(connection)
            continuation.resume()
            work(connection)
          } catch {
            continuation.resume(throwing: error)
          }
        }
      } catch {
        end.open()
        continuation.resume(throwing: error)
      }
    }
  }

  private func startWriter(prepare: @escaping @Sendable (SQLiteConnection) throws -> Void) async throws {
    let (writes, checkpoints, isDue) = (writes, checkpoints, isLastCheckpointDue)
    let end = Latch()
    writerEnd.withLock { $0 = end }
    try await start(end, role: .writer, prepare: prepare) { connection in
      var writer = SQLiteWriter(
        connection: connection, jobs: writes, checkpoints: checkpoints, isLastCheckpointDue: isDue)
      writer.run()
    }
  }

  private func startCheckpointer() async throws {
    let (checkpoints, isDue) = (checkpoints, isLastCheckpointDue)
    try await start(readerEnd(), role: .writer, prepare: { _ in }) { connection in
      while checkpoints.take() != nil {
        // A failed round loses nothing: the log stays, and the writer asks again.
        do { try connection.checkpointPassively() } catch {}
        isDue.withLock { $0 = true }
      }
    }
  }

  private func startReader() async throws {
    let (reads, onRead) = (reads, onRead)
    try await start(readerEnd(), role: .reader, prepare: { $0.onStatement = onRead }) { connection in
      while let job = reads.take() { job(connection) }
    }
  }

  private func readerEnd() -> Latch {
    let end = Latch()
    readerEnds.withLock { $0.append(end) }
    return end
  }

  // MARK: One call

  private static func attempt<Value>(
    _ body: (SQLiteConnection) throws -> Value, on connection: SQLiteConnection
  ) -> Result<Value, any Error> {
    guard connection.isInTransaction else {
      return .failure(SQLiteError(.busy, "The transaction could not begin. Try again."))
    }
    return Result {
      try connection.run("SAVEPOINT call")
      do {
        let value = try body(connection)
        try connection.run("RELEASE call")
        return value
      } catch {
        if connection.isInTransaction {
          try connection.run("ROLLBACK TO call")
          try connection.run("RELEASE call")
        }
        throw error
      }
    }
  }

  private static func view<Value>(
    _ connection: SQLiteConnection, limit: Duration, _ body: (SQLiteConnection) throws -> Value
  ) throws -> Value {
    connection.limit(until: Clock.system.monotonic().advanced(by: limit))
    defer { connection.limit(until: nil) }
    try connection.run("BEGIN")
    defer { connection.rollBack() }
    return try body(connection)
  }

  private static func error<Job>(for refusal: JobQueue<Job>.Refusal) -> SQLiteError {
    switch refusal {
    case .full: SQLiteError(.overloaded, "Too many calls wait for the disk. Try again in a moment.")
    case .closed: SQLiteError(.closed, "The database is closed because the server is stopping.")
    }
  }
}
