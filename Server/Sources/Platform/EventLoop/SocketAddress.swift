internal import CUV

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An IPv4 or IPv6 address with a port.
struct SocketAddress {
  private var storage: sockaddr_storage

  /// nil: the host is a name. `localhost` is the IPv4 loopback here, so that a listener needs no resolver.
  init?(literal endpoint: Endpoint) {
    storage = sockaddr_storage()
    let host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host
    let port = Int32(endpoint.port)
    let isAddress = withUnsafeMutablePointer(to: &storage) { pointer in
      let raw = UnsafeMutableRawPointer(pointer)
      return uv_ip4_addr(host, port, raw.assumingMemoryBound(to: sockaddr_in.self)) == 0
        || uv_ip6_addr(host, port, raw.assumingMemoryBound(to: sockaddr_in6.self)) == 0
    }
    guard isAddress else { return nil }
  }

  /// Of a resolver's answer.
  init?(_ info: addrinfo, port: UInt16) {
    guard let address = info.ai_addr, Int(info.ai_addrlen) <= MemoryLayout<sockaddr_storage>.size else { return nil }
    storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen)))
    }
    let family = Int32(storage.ss_family)
    guard family == AF_INET || family == AF_INET6 else { return nil }
    withUnsafeMutablePointer(to: &storage) { pointer in
      let raw = UnsafeMutableRawPointer(pointer)
      if family == AF_INET {
        raw.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port = port.bigEndian
      } else {
        raw.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_port = port.bigEndian
      }
    }
  }

  var family: AddressRaceMachine.Family { Int32(storage.ss_family) == AF_INET6 ? .ipv6 : .ipv4 }

  mutating func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
    withUnsafePointer(to: &storage) {
      body(UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self))
    }
  }

  /// 0 when the socket is not bound.
  static func localPort(of tcp: UVTCP) -> UInt16 {
    var name = sockaddr_storage()
    var length = Int32(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &name) { pointer in
      let raw = UnsafeMutableRawPointer(pointer)
      guard uv_tcp_getsockname(tcp, raw.assumingMemoryBound(to: sockaddr.self), &length) == 0 else { return 0 }
      // The port stands at the same place in both families.
      return raw.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port.bigEndian
    }
  }
}
