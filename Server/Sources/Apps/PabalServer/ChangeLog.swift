import PabalModel
import ServerAPI
import Storage

/// The newest changes of devices and wishes, numbered from 0, for pushes that were decided before them and come in
/// after them.
struct ChangeLog {
  /// More than come in while one message is decided and committed; who looks further back is told that it may have
  /// changed.
  static let kept = 1_024

  private var subjects: [Set<ChangedSubject>] = []
  private var first = 0

  /// The number of the next change.
  var position: Int { first + subjects.count }

  mutating func note(_ changed: Set<ChangedSubject>) {
    subjects.append(changed)
    guard subjects.count >= 2 * Self.kept else { return }
    subjects.removeFirst(Self.kept)
    first += Self.kept
  }

  /// Whether something about them changed from `position` on, or may have.
  func concerns(_ user: UserID, _ device: DeviceNumber, since position: Int) -> Bool {
    guard position < self.position else { return false }
    guard position >= first else { return true }
    return subjects[(position - first)...].contains { $0.contains(.user(user)) || $0.contains(.device(device)) }
  }
}
