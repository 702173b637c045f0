import PabalPrimitives
import Storage
import StorageConformance

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Kills the process while its first pass of retention is at work: so long after that bite of the pass has begun. A
/// pass that ends earlier says so.
///
/// From inside, because whoever watches from outside comes too late on a busy machine: the pass would be over.
struct DiesWhilePruning {
  static let passIsOver = "pass over"

  let bite: Int
  let delay: Duration

  func layer(over inner: any PushStorage) -> any PushStorage {
    let begun = Locked(0)
    var layer = StorageLayer(over: inner)
    layer.biting = { inner, place, limit, now throws(StorageError) in
      let number = begun.withLock { count in
        count += 1
        return count
      }
      if number == bite { die() }
      let step = try await inner.prune(from: place, limit: limit, at: now)
      if step.next == nil { KillableServer.say(Self.passIsOver) }
      return step
    }
    return layer
  }

  /// Returns at once: the bite goes on beside the thread that ends it all.
  private func die() {
    let moment = Clock.system.monotonic().advanced(by: delay)
    OwnThread.start {
      while Clock.system.monotonic() < moment {}
      kill(getpid(), SIGKILL)
    }
  }
}
