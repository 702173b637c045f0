#if !os(iOS)
public import Foundation
internal import PabalPrimitives

#if os(Linux)
internal import FoundationNetworking
#endif

extension DeviceLink {
  /// The line to the stand-in APNs: its control API and one event stream, over one HTTP session of its own (a session
  /// has six connections a host, streams included).
  ///
  /// - Parameter control: the control API's root, such as `http://127.0.0.1:8432`.
  /// - Parameter environment: `sandbox` or `production`.
  public static func live(control: URL, environment: String) -> DeviceLink {
    let link = LiveDeviceLink(control: control, environment: environment)
    return DeviceLink(
      register: { try await link.register(topic: $0) },
      pushes: { link.pushes() },
      leave: { try await link.change("{\"online\":false}") },
      uninstall: { try await link.change("{\"state\":\"unregistered\"}") })
  }
}

final class LiveDeviceLink: Sendable {
  private struct State {
    var deviceID: String?
    var lastEventID: String?
    var stream: (events: EventStream, task: URLSessionDataTask)?
    var failures = 0
  }

  private let devices: URL
  private let environment: String
  private let session: URLSession
  private let delegate = EventStreamDelegate()
  private let state = Locked(State())

  init(control: URL, environment: String) {
    devices = control.appendingPathComponent("v1/simulator/devices")
    self.environment = environment
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    session.invalidateAndCancel()
  }

  /// The stand-in makes the device and its token; asked again, the link answers nothing new: the phone keeps its token.
  func register(topic: String) async throws -> [UInt8] {
    let body: JSONValue = ["topic": .string(topic), "environment": .string(environment)]
    let reply = try await call("POST", devices, body.encoded, expected: 201)
    let device = reply["data"]?.elements.first ?? reply
    guard let id = device["id"]?.string, let token = device["token"]?.string.flatMap(Hex.decode) else {
      throw PhoneError(.linkFailed, "the stand-in's reply to a new device has no id and token: is it another version?")
    }
    state.withLock { $0.deviceID = id }
    return token
  }

  func change(_ body: String) async throws {
    guard let id = state.withLock({ $0.deviceID }) else { return }
    _ = try await call("PATCH", devices.appendingPathComponent(id), Array(body.utf8), expected: 200)
  }

  private func call(_ method: String, _ url: URL, _ body: [UInt8], expected: Int) async throws -> JSONSlice {
    var request = URLRequest(url: url, timeoutInterval: PhoneLimits.callSeconds)
    request.httpMethod = method
    request.httpBody = Data(body)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    do {
      let (data, response) = try await session.data(for: request)
      let status = (response as? HTTPURLResponse)?.statusCode ?? 0
      guard status == expected else {
        throw PhoneError(.linkFailed, "the stand-in answered \(status) to \(method) \(url.path): see its log")
      }
      return try JSONSlice(parsing: Array(data))
    } catch let error as PhoneError {
      throw error
    } catch {
      throw PhoneError(.linkFailed, "no stand-in at \(url.host ?? "?"):\(url.port ?? 0): start it", cause: error)
    }
  }

  // MARK: The stream

  func pushes() -> AsyncStream<DevicePush> {
    AsyncStream { await self.next() }
  }

  /// The next push. Opens the stream, and opens it again when it breaks; nil when another stream took over or the
  /// task was cancelled.
  private func next() async -> DevicePush? {
    while !Task.isCancelled {
      do {
        guard let event = try await openStream().next() else {
          let failures = state.withLock { state in
            state.stream = nil
            state.failures += 1
            return state.failures
          }
          try await RealTime.pass(Self.delay(afterFailures: failures))
          continue
        }
        if let id = event.id { state.withLock { $0.lastEventID = id } }
        switch event.name {
        case "ready": state.withLock { $0.failures = 0 }
        case "push": return Self.push(event)
        case "replaced":
          closeStream()
          return nil
        default: break  // A later version may say more.
        }
      } catch {
        break  // Cancelled: nothing else is thrown.
      }
    }
    closeStream()
    return nil
  }

  private func openStream() -> EventStream {
    state.withLock { state in
      if let stream = state.stream { return stream.events }
      let url = devices.appendingPathComponent(state.deviceID ?? "").appendingPathComponent("stream")
      var request = URLRequest(url: url, timeoutInterval: PhoneLimits.streamIdleSeconds)
      request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
      request.setValue(state.lastEventID, forHTTPHeaderField: "Last-Event-ID")
      let events = EventStream()
      let task = session.dataTask(with: request)
      delegate.add(events, for: task)
      state.stream = (events, task)
      task.resume()
      return events
    }
  }

  private func closeStream() {
    let stream = state.withLock { state in
      defer { state.stream = nil }
      return state.stream
    }
    stream?.task.cancel()
  }

  static func delay(afterFailures failures: Int) -> Duration {
    min(PhoneLimits.reconnectDelay * (1 << min(failures - 1, 10)), PhoneLimits.reconnectDelayMaximum)
  }

  /// What an event cannot say stays empty; the phone records such a push as unreadable.
  private static func push(_ event: ServerSentEvent) -> DevicePush {
    var push = DevicePush(inboxID: event.id ?? "", apnsID: "", topic: "", payload: [])
    do {
      let item = try JSONSlice(parsing: Array(event.data.utf8))
      push.apnsID = item["apnsId"]?.string ?? ""
      push.topic = item["topic"]?.string ?? ""
      push.pushType = item["pushType"]?.string ?? "alert"
      push.collapseID = item["collapseId"]?.string
      push.payload = item["payloadBase64"]?.string.flatMap(Base64.decode) ?? []
    } catch {
      return push
    }
    return push
  }
}
#endif
