#if !os(iOS)
internal import Foundation
internal import PabalPrimitives

#if os(Linux)
internal import FoundationNetworking
#endif

/// The reply to one streaming request, read as events.
final class EventStream: Sendable {
  private struct State {
    var parser = EventParser()
    var events: [ServerSentEvent] = []
    var isClosed = false
  }

  private let state = Watched(State())

  /// The next event; nil when the stream has ended. Throws `CancellationError` only.
  func next() async throws -> ServerSentEvent? {
    try await state.wait { !$0.events.isEmpty || $0.isClosed }
    return state.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
  }

  /// - Returns: false when the stream must be broken off: it is unreadable, or nobody takes its events.
  func receive(_ bytes: Data) -> Bool {
    state.withLock { state in
      do {
        state.events += try state.parser.receive(bytes)
        return state.events.count <= PhoneLimits.waitingPushes
      } catch {
        return false
      }
    }
  }

  func close() {
    state.withLock { $0.isClosed = true }
  }
}

/// Brings the pieces of streaming replies to their `EventStream`.
final class EventStreamDelegate: NSObject, URLSessionDataDelegate, Sendable {
  private let streams = Locked<[Int: EventStream]>([:])

  func add(_ stream: EventStream, for task: URLSessionTask) {
    streams.withLock { $0[task.taskIdentifier] = stream }
  }

  private func stream(of task: URLSessionTask) -> EventStream? {
    streams.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler((response as? HTTPURLResponse)?.statusCode == 200 ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let stream = stream(of: dataTask), !stream.receive(data) else { return }
    dataTask.cancel()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let stream = streams.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    stream?.close()
  }
}
#endif
