package import PabalModel
internal import PabalPrimitives

/// What the stand-in calls each device, by a keyed hash of its token, in a file of one line each.
///
/// New lines are appended. A token that nobody uses any more is not told of, so its line stays until a look through
/// the devices there are (`sweep`), which writes the file anew: at each start, and when dead lines may outnumber the
/// living. What a crash left of a last line is dropped at the next start.
package final class StandInIndex: Sendable {
  package struct Name: Equatable, Sendable {
    package let id: String
    package let environment: PushEnvironment

    package init(id: String, environment: PushEnvironment) {
      self.id = id
      self.environment = environment
    }
  }

  private struct Entry {
    let name: Name
    /// The last look in or before which the device was seen.
    var seen: UInt64
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// In the file.
    var lines = 0
    /// A look is due when the file has more lines.
    var limit = 0
    /// Looks so far.
    var look: UInt64 = 0
    var isLooking = false
  }

  private let path: String
  /// Never held while the file is written.
  private let state: Locked<State>
  /// Held by own threads only, since it lasts as long as the disk takes.
  private let file = OneAtATime()

  package init(path: String) throws(UpError) {
    self.path = path
    let text = try DataFolder.read(path, atMost: StandInIndexLimits.fileBytes) ?? ""
    var state = State()
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      state.lines += 1
      guard let (key, name) = Self.parse(line) else { continue }
      state.entries[key] = Entry(name: name, seen: 0)
    }
    if state.lines != state.entries.count || !(text.utf8.last.map { $0 == UInt8(ascii: "\n") } ?? true) {
      try DataFolder.write(Self.text(of: state.entries), to: path)
      state.lines = state.entries.count
    }
    state.limit = StandInIndexLimits.lines(living: state.lines)
    self.state = Locked(state)
  }

  package func name(of key: String) -> Name? {
    state.withLock { $0.entries[key]?.name }
  }

  /// Lines of the file.
  package var lines: Int { state.withLock { $0.lines } }

  /// Takes the name of a device that exists.
  package func remember(_ name: Name, as key: String) async throws(UpError) {
    let isNew = state.withLock { state in
      let isNew = state.entries[key]?.name != name
      state.entries[key] = Entry(name: name, seen: state.look)
      return isNew
    }
    guard isNew else { return }
    do throws(UpError) {
      try await onDisk { () throws(UpError) in
        try DataFolder.append("\(key) \(name.id) \(name.environment.rawValue)", to: self.path)
        self.state.withLock { $0.lines += 1 }
      }
    } catch {
      // Tried again with the next call for it.
      state.withLock { state in
        if state.entries[key]?.name == name { state.entries[key] = nil }
      }
      throw error
    }
  }

  /// The device of this key exists.
  package func see(_ key: String) {
    state.withLock { state in
      let look = state.look
      state.entries[key]?.seen = look
    }
  }

  /// Forgets every device that was neither seen nor remembered while `look` ran.
  package func sweep(_ look: () async throws -> Void) async throws {
    guard begin(onlyWhenDue: false) else { return try await look() }
    try await finish(look)
  }

  /// The same, when dead lines may outnumber the living and nobody is at it.
  package func sweepWhenDue(_ look: () async throws -> Void) async throws {
    guard begin(onlyWhenDue: true) else { return }
    try await finish(look)
  }

  private func begin(onlyWhenDue: Bool) -> Bool {
    state.withLock { state in
      guard !state.isLooking, !onlyWhenDue || state.lines > state.limit else { return false }
      state.look += 1
      state.isLooking = true
      return true
    }
  }

  private func finish(_ look: () async throws -> Void) async throws {
    defer { state.withLock { $0.isLooking = false } }
    do {
      try await look()
      try await onDisk { () throws(UpError) in try self.compact() }
    } catch {
      // Not again with each device that comes from now on, but after some.
      state.withLock { $0.limit = $0.lines + StandInIndexLimits.fewLines }
      throw error
    }
  }

  /// With the file in hand.
  private func compact() throws(UpError) {
    let (entries, isNeeded) = state.withLock { state in
      let before = state.entries.count
      state.entries = state.entries.filter { $0.value.seen == state.look }
      return (state.entries, state.entries.count != before || state.entries.count != state.lines)
    }
    // What is remembered from here on is appended to the new file.
    if isNeeded { try DataFolder.write(Self.text(of: entries), to: path) }
    state.withLock { state in
      state.lines = entries.count
      state.limit = StandInIndexLimits.lines(living: entries.count)
    }
  }

  private func onDisk(_ work: @escaping @Sendable () throws(UpError) -> Void) async throws(UpError) {
    let result = await OwnThread.run { [file] in
      file.run {
        do throws(UpError) {
          return Result<Void, UpError>.success(try work())
        } catch {
          return .failure(error)
        }
      }
    }
    try result.get()
  }

  private static func parse(_ line: Substring.UTF8View) -> (key: String, name: Name)? {
    let words = line.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    guard words.count == 3, let environment = PushEnvironment(rawValue: words[2]) else { return nil }
    return (words[0], Name(id: words[1], environment: environment))
  }

  private static func text(of entries: [String: Entry]) -> [UInt8] {
    var text: [UInt8] = []
    for (key, entry) in entries {
      text += "\(key) \(entry.name.id) \(entry.name.environment.rawValue)\n".utf8
    }
    return text
  }
}
