internal import CUV
internal import PabalPrimitives

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One dial: looks the name up, never from a cache, and races its addresses. Tells its end once, on a later turn than
/// `start`.
///
/// It keeps itself alive while libuv holds a request or a handle of it.
final class UVDial {
  enum End {
    /// The socket is connected; it belongs to the receiver, who sets its `data`.
    case connected(UVTCP)
    case failed(ChannelError)
  }

  /// A socket that is being connected.
  private struct Attempt {
    let tcp: UVTCP
    let request: UnsafeMutablePointer<uv_connect_t>
  }

  private unowned let core: UVLoopCore
  private let endpoint: Endpoint
  private var whenDone: ((End) -> Void)?
  private var resolution: UnsafeMutablePointer<uv_getaddrinfo_t>?
  private var addresses: [SocketAddress] = []
  private var race = AddressRaceMachine(count: 0)
  private var attempts: [Int: Attempt] = [:]
  private var stagger: TimerID?
  private var lastFailure: ChannelError?

  init(core: UVLoopCore, endpoint: Endpoint, whenDone: @escaping (End) -> Void) {
    self.core = core
    self.endpoint = endpoint
    self.whenDone = whenDone
  }

  func start() {
    let known = core.hosts[endpoint.host].map { addresses in
      addresses.compactMap { SocketAddress(literal: Endpoint(host: $0, port: endpoint.port)) }
    }
    if let known {
      dial(known)
    } else if let address = SocketAddress(literal: endpoint) {
      dial([address])
    } else {
      resolve()
    }
  }

  /// Nothing is told any more.
  func cancel() {
    whenDone = nil
    if let resolution { uv_cancel(asRequest(resolution)) }
    dropAttempts(but: nil)
    disarm()
  }

  // MARK: The name

  private func resolve() {
    let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
    request.pointee.data = retainedData(self)
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    let status = uv_getaddrinfo(
      core.uv, request,
      { request, status, result in
        let dial = owner(of: request?.pointee.data, as: UVDial.self)
        dial.resolution = nil
        dial.resolved(status, result)
        uv_freeaddrinfo(result)
        release(data: request?.pointee.data)
        request?.deallocate()
      }, endpoint.host, nil, &hints)
    if status != 0 {
      release(data: request.pointee.data)
      request.deallocate()
      return finishLater(.failed(channelError(status, doing: "looking up \(endpoint.host)")))
    }
    resolution = request
  }

  private func resolved(_ status: Int32, _ result: UnsafeMutablePointer<addrinfo>?) {
    guard whenDone != nil else { return }
    guard status == 0 else {
      return finish(.failed(channelError(status, doing: "looking up \(endpoint.host)")))
    }
    var found: [SocketAddress] = []
    var next = result
    while let info = next?.pointee {
      if let address = SocketAddress(info, port: endpoint.port) { found.append(address) }
      next = info.ai_next
    }
    dial(found)
  }

  // MARK: The addresses

  private func dial(_ found: [SocketAddress]) {
    addresses = AddressRaceMachine.order(found.map(\.family)).map { found[$0] }
    race = AddressRaceMachine(count: addresses.count)
    run(race.handle(.start))
  }

  private func run(_ actions: [AddressRaceMachine.Action]) {
    for action in actions {
      switch action {
      case .dial(let index): connect(index)
      case .armStagger:
        disarm()
        stagger = core.schedule(after: AddressRaceMachine.stagger) { [weak self] in
          guard let self else { return }
          stagger = nil
          run(race.handle(.staggerElapsed))
        }
      case .disarmStagger: disarm()
      case .win(let index):
        guard let tcp = attempts[index]?.tcp else { continue }
        dropAttempts(but: index)
        finish(.connected(tcp))
      case .lose:
        let nowhere = channelError(UV_EAI_NONAME.rawValue, doing: "looking up \(endpoint.host)")
        finishLater(.failed(lastFailure ?? nowhere))
      }
    }
  }

  private func connect(_ index: Int) {
    let tcp = UVTCP.allocate(capacity: 1)
    uv_tcp_init(core.uv, tcp)
    // Requests are small and answered one by one: waiting for more bytes (Nagle) would only add latency.
    uv_tcp_nodelay(tcp, 1)
    tcp.pointee.data = nil
    let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
    request.pointee.data = retainedData(self)
    attempts[index] = Attempt(tcp: tcp, request: request)
    let status = addresses[index].withPointer {
      uv_tcp_connect(request, tcp, $0) { request, status in
        let dial = owner(of: request?.pointee.data, as: UVDial.self)
        dial.connected(request, status)
        release(data: request?.pointee.data)
        request?.deallocate()
      }
    }
    if status != 0 {
      release(data: request.pointee.data)
      request.deallocate()
      failed(index, status)
    }
  }

  /// Also of sockets that were dropped: libuv tells their requests' end with UV_ECANCELED.
  private func connected(_ request: UnsafeMutablePointer<uv_connect_t>?, _ status: Int32) {
    guard let index = attempts.first(where: { $0.value.request == request })?.key else { return }
    guard status == 0 else { return failed(index, status) }
    run(race.handle(.connected(index)))
  }

  private func failed(_ index: Int, _ status: Int32) {
    lastFailure = channelError(status, doing: "connecting to \(endpoint)")
    if let attempt = attempts.removeValue(forKey: index) { Self.close(attempt.tcp) }
    run(race.handle(.failed(index)))
  }

  private func dropAttempts(but winner: Int?) {
    for (index, attempt) in attempts where index != winner { Self.close(attempt.tcp) }
    attempts = [:]
  }

  private static func close(_ tcp: UVTCP) {
    uv_close(asHandle(tcp)) { UnsafeMutableRawPointer($0)?.deallocate() }
  }

  // MARK: The end

  private func disarm() {
    if let stagger { core.cancel(stagger) }
    stagger = nil
  }

  private func finishLater(_ end: End) {
    core.schedule(after: .zero) { self.finish(end) }
  }

  private func finish(_ end: End) {
    guard let whenDone else { return }
    self.whenDone = nil
    whenDone(end)
  }
}
