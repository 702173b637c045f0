import HTTPServer
import PabalPrimitives

extension StandInControl {
  /// Server-sent events (WHATWG HTML 9.2): `ready`, then `push` with the inbox id as event id, `replaced` before the
  /// end if a newer stream took over, and a comment when silent for long.
  func openLink(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    _ = try ControlQuery(request, known: [])
    let id = try find(request).id
    let last = request.header("last-event-id")
    let opened = try change { core throws(StandInDeviceFault) in
      try core.openLink(device: id, lastEventID: last)
    }
    let link = opened.link
    let bell = links.open(link)
    perform(opened.actions)
    let stream = BodyStream { stream in
      await say(link, bell, on: stream)
    }
    stream.onClosed {
      links.close(link)
      core.withLock { $0.linkClosed(link) }
    }
    return .events(stream)
  }

  /// Writes what the core has to say whenever the bell rings; the stream's buffer holds the writer back, and what is
  /// not written yet stays in the core.
  private func say(_ link: StandInLinkID, _ bell: AsyncStream<Void>, on stream: BodyStream) async {
    for await _ in bell {
      while let event = core.withLock({ $0.nextLinkEvent(link) }) {
        guard let text = Self.text(event) else {
          stream.finish()
          return
        }
        guard await stream.write(text) else { return }
        if case .replaced = event {
          stream.finish()
          return
        }
      }
    }
    stream.finish()
  }

  /// The bytes of an event; `nil` for the silent end.
  private static func text(_ event: StandInLinkEvent) -> [UInt8]? {
    switch event {
    case .ready(let device): lines("ready", id: nil, ControlOutput.ready(device))
    case .push(let push): lines("push", id: push.id, ControlOutput.linked(push))
    case .replaced: lines("replaced", id: nil, [:])
    case .ended: nil
    }
  }

  private static func lines(_ name: String, id: String?, _ data: JSONValue) -> [UInt8] {
    Array("event: \(name)\n".utf8) + (id.map { Array("id: \($0)\n".utf8) } ?? []) + Array("data: ".utf8) + data.encoded
      + Array("\n\n".utf8)
  }
}
