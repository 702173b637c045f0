import Foundation
import PabalMailbox
import PabalPrimitives

/// The file system as one process of the app sees it: when the process has ended, it is out of reach.
///
/// The tasks of an ended process may run on in a test, on a phone they are gone. Whatever they still had to write must
/// neither reach the next process nor bring back a folder that was removed.
final class ProcessFiles: Sendable {
  private let hasEnded = Locked(false)

  /// Returns when no operation is under way; each later one fails.
  func end() {
    hasEnded.withLock { $0 = true }
  }

  var files: DurableFiles {
    DurableFiles(
      makeDirectory: { path throws(DurableFileError) in
        try self.whileAlive { () throws(DurableFileError) in try DurableFiles.live.makeDirectory(path) }
      },
      list: { folder throws(DurableFileError) in
        try self.whileAlive { () throws(DurableFileError) in try DurableFiles.live.list(folder) }
      },
      read: { path throws(DurableFileError) in
        try self.whileAlive { () throws(DurableFileError) in try DurableFiles.live.read(path) }
      },
      write: { path, bytes throws(DurableFileError) in
        try self.whileAlive { () throws(DurableFileError) in try DurableFiles.live.write(path, bytes) }
      },
      append: { path, bytes throws(DurableFileError) in
        try self.whileAlive { () throws(DurableFileError) in try DurableFiles.live.append(path, bytes) }
      },
      rename: { from, to throws(DurableFileError) in
        try self.whileAlive { () throws(DurableFileError) in try DurableFiles.live.rename(from, to) }
      },
      remove: { path throws(DurableFileError) in
        try self.whileAlive { () throws(DurableFileError) in try DurableFiles.live.remove(path) }
      },
      syncDirectory: { path throws(DurableFileError) in
        try self.whileAlive { () throws(DurableFileError) in try DurableFiles.live.syncDirectory(path) }
      })
  }

  private func whileAlive<Answer>(
    _ operation: () throws(DurableFileError) -> Answer
  ) throws(DurableFileError) -> Answer {
    let outcome: Result<Answer, DurableFileError> = hasEnded.withLock { hasEnded in
      guard !hasEnded else { return .failure(DurableFileError("reach", number: EIO)) }
      do throws(DurableFileError) {
        return .success(try operation())
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }
}
