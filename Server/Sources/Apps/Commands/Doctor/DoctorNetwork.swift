import EventLoop
import PabalPrimitives
import ServerAPI

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// DNS and TCP, by the system's own calls, so that what hangs there is told apart from TLS and HTTP/2.
enum DoctorNetwork {
  /// One answer of the resolver.
  struct Address: Sendable {
    let family: Int32
    fileprivate let bytes: [UInt8]

    fileprivate func withPort(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
      var bytes = bytes
      return bytes.withUnsafeMutableBytes { raw in
        guard let base = raw.baseAddress else { return -1 }
        // The port stands at the same place in both families.
        base.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
        return body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
      }
    }
  }

  private static let connectMilliseconds: Int32 = 5000
  /// The port for networks that let no other HTTPS out (Apple, "Sending notification requests to APNs").
  private static let otherPort: UInt16 = 2197

  static func resolve(_ endpoint: Endpoint) async -> (check: DoctorCheck, addresses: [Address]) {
    let (status, addresses) = await OwnThread.run { lookUp(endpoint) }
    guard status == 0, !addresses.isEmpty else {
      let why = String(cString: gai_strerror(status))
      let check = DoctorCheck(
        "dns", at: endpoint.host, .failed, Sentence("no address: \(why)", "주소를 찾을 수 없음: \(why)"),
        do: Sentence(
          "Check the spelling of the host and this machine's name servers (/etc/resolv.conf).",
          "호스트의 철자와 이 컴퓨터의 네임 서버(/etc/resolv.conf)를 확인하세요."))
      return (check, [])
    }
    let six = addresses.count { $0.family == AF_INET6 }
    let four = addresses.count - six
    return (
      DoctorCheck(
        "dns", at: endpoint.host, .ok,
        Sentence("\(four) IPv4, \(six) IPv6 addresses", "IPv4 주소 \(four)개, IPv6 주소 \(six)개")), addresses
    )
  }

  /// The first address that answers is enough.
  static func connect(_ endpoint: Endpoint, to addresses: [Address], isApples: Bool) async -> DoctorCheck {
    let place = endpoint.description
    let port = endpoint.port
    if let why = await OwnThread.run({ firstFailure(addresses, port) }) {
      if isApples, await OwnThread.run({ firstFailure(addresses, otherPort) }) == nil {
        let url = "--endpoint https://\(endpoint.host):\(otherPort)"
        return DoctorCheck(
          "tcp", at: place, .failed,
          Sentence("\(why), but port \(otherPort) is open", "\(why). 하지만 \(otherPort) 포트는 열려 있음"),
          do: Sentence("Use \(url), or let port \(port) out.", "\(url)을(를) 쓰거나 \(port) 포트를 여세요."))
      }
      return DoctorCheck(
        "tcp", at: place, .failed, Sentence(why, why),
        do: Sentence(
          "Check that something listens there and that no firewall is in between; APNs uses 443 and 2197.",
          "그곳에서 듣는 것이 있는지, 방화벽이 막는지 확인하세요. APNs는 443과 2197을 씁니다."))
    }
    return DoctorCheck("tcp", at: place, .ok, Sentence("connected", "연결됨"))
  }

  private static func lookUp(_ endpoint: Endpoint) -> (Int32, [Address]) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
    guard status == 0 else { return (status, []) }
    defer { freeaddrinfo(list) }
    var addresses: [Address] = []
    var next = list
    while let info = next?.pointee {
      next = info.ai_next
      guard let address = info.ai_addr else { continue }
      let bytes = [UInt8](UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen)))
      addresses.append(Address(family: info.ai_family, bytes: bytes))
    }
    return (status, addresses)
  }

  /// `nil` when one of the addresses took the connection; else why the first did not.
  private static func firstFailure(_ addresses: [Address], _ port: UInt16) -> String? {
    var first: String?
    for address in addresses {
      guard let why = failure(address, port) else { return nil }
      first = first ?? why
    }
    return first ?? "no address"
  }

  private static func failure(_ address: Address, _ port: UInt16) -> String? {
    let socket = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { return reason(errno) }
    defer { close(socket) }
    _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    let status = address.withPort(port) { connectTo(socket, $0, $1) }
    if status == 0 { return nil }
    guard errno == EINPROGRESS else { return reason(errno) }
    var waiting = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
    guard poll(&waiting, 1, connectMilliseconds) == 1 else { return "no answer within 5 s" }
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length) == 0, code == 0 else { return reason(code) }
    return nil
  }

  private static func reason(_ number: Int32) -> String {
    String(cString: strerror(number)).lowercased()
  }
}

private func connectTo(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
  connect(socket, address, length)
}
