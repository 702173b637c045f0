package import EventLoop
package import HTTP2

/// One HTTP/2 connection to a provider. On its loop's thread only.
package final class HTTP2ClientConnection {
  package let configuration: HTTP2ClientConfiguration
  private let loop: any Loop
  private let events: (HTTP2ClientEvent) -> Void

  package init(
    loop: any Loop, configuration: HTTP2ClientConfiguration, events: @escaping (HTTP2ClientEvent) -> Void
  ) {
    self.loop = loop
    self.configuration = configuration
    self.events = events
  }

  /// Dials. Once.
  package func start() { fatalError("not landed yet") }

  /// A stream is free and the connection's window holds the whole body: a body is never split by flow control, because
  /// a split one can starve behind others until the connection is idle.
  package func canSubmit(bodyBytes: Int) -> Bool { fatalError("not landed yet") }

  /// Queues a request; nothing leaves before `flush`, or before the end of the event that is being handled.
  /// Only after `canSubmit(bodyBytes:)` said yes. `tag` comes back in events and is unique among open requests.
  package func submit(
    template: HTTP2HeaderTemplate, path: [UInt8], unique: [UInt8], body: [UInt8], tag: UInt64
  ) { fatalError("not landed yet") }

  /// One write for everything submitted. No effect from inside an event, whose end flushes by itself.
  package func flush() { fatalError("not landed yet") }

  /// Resets the stream with CANCEL. No further event names the tag.
  package func cancel(tag: UInt64) { fatalError("not landed yet") }

  package func ping() { fatalError("not landed yet") }

  /// Takes no more requests, waits for the open ones, then closes.
  package func close() { fatalError("not landed yet") }

  /// Closes at once; `closed` follows on a later turn and names what was open.
  package func abort() { fatalError("not landed yet") }

  package var openStreams: Int { fatalError("not landed yet") }

  /// What the peer allows now, capped by the configuration. 0 before `ready`.
  package var maxConcurrentStreams: Int { fatalError("not landed yet") }
}
