package import PabalPrimitives

/// Where events go. Libraries are given one and log nothing above `debug`; applications decide level and sink.
package struct Log: Sendable {
  private let clock: Clock
  private let minimumLevel: LogLevel
  private let sink: @Sendable (LogEvent) -> Void

  package init(
    minimumLevel: LogLevel = .info, clock: Clock = .system, sink: @escaping @Sendable (LogEvent) -> Void
  ) {
    self.minimumLevel = minimumLevel
    self.clock = clock
    self.sink = sink
  }

  /// Drops everything.
  package static let none = Log(minimumLevel: .error) { _ in }

  /// - Parameters:
  ///   - name: stable dotted name of the event.
  ///   - message: a constant sentence; values belong into `fields`.
  ///   - fields: never a token, key or text of a notification. Evaluated only when the level is on.
  package func event(
    _ name: StaticString, _ message: StaticString, level: LogLevel = .debug,
    _ fields: @autoclosure () -> KeyValuePairs<String, JSONValue> = [:]
  ) {
    guard level >= minimumLevel else { return }
    sink(
      LogEvent(
        time: clock.wall(), level: level, name: name.description, message: message.description,
        fields: fields().map { JSONMember($0.key, $0.value) }))
  }

  /// Whether an event of this level would go anywhere.
  package func isEnabled(_ level: LogLevel) -> Bool {
    level >= minimumLevel
  }
}
