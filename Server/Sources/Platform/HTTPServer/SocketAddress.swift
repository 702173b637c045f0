import PabalPrimitives

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A numeric address to listen on, and the few socket calls that the library leaves to us.
package struct SocketAddress: Sendable {
  let isIPv6: Bool
  private var storage = sockaddr_storage()

  package init(host: String, port: UInt16) throws(WebServerError) {
    var v4 = sockaddr_in()
    var v6 = sockaddr_in6()
    if inet_pton(AF_INET, host, &v4.sin_addr) == 1 {
      isIPv6 = false
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = port.bigEndian
      withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: v4, as: sockaddr_in.self) }
    } else if inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 {
      isIPv6 = true
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = port.bigEndian
      withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: v6, as: sockaddr_in6.self) }
    } else {
      throw WebServerError(.addressInvalid, "Give a numeric address to listen on, such as 127.0.0.1 or ::1.")
    }
  }

  var length: Int { isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size }

  /// The bytes of the `sockaddr`, for the time of the call.
  func withBytes<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
    withUnsafeBytes(of: storage) { bytes in
      guard let base = bytes.baseAddress else { preconditionFailure("a stored struct has an address") }
      return body(base)
    }
  }

  #if canImport(Darwin)
  private static let noSignal: CInt = 0
  #else
  private static let noSignal = CInt(MSG_NOSIGNAL)
  #endif

  /// Ends both directions: the library sees the end on its own thread and closes the socket itself.
  static func shutDown(_ descriptor: CInt) {
    #if canImport(Darwin)
    _ = shutdown(descriptor, SHUT_RDWR)
    #else
    _ = shutdown(descriptor, CInt(SHUT_RDWR))
    #endif
  }

  static func close(_ descriptor: CInt) {
    #if canImport(Darwin)
    _ = Darwin.close(descriptor)
    #else
    _ = Glibc.close(descriptor)
    #endif
  }

  /// Sends `bytes` to this address on `port` and returns what comes back, up to `maximum` bytes or the end.
  /// Blocks; only for the check at the start, against ourselves. Who says nothing for `limit`, which a busy machine may
  /// need, has said all.
  package func ask(port: UInt16, _ bytes: [UInt8], maximum: Int, limit: Duration = .seconds(20)) -> [UInt8]? {
    #if canImport(Darwin)
    let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0)
    #else
    let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #endif
    guard descriptor >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    defer { Self.close(descriptor) }
    let (seconds, attoseconds) = limit.components
    var limit = timeval(tv_sec: Int(seconds), tv_usec: numericCast(attoseconds / 1_000_000_000_000))
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let connected = reachable(port: port).withBytes { raw in
      connect(descriptor, raw.assumingMemoryBound(to: sockaddr.self), socklen_t(length))
    }
    guard connected == 0, send(descriptor, bytes, bytes.count, Self.noSignal) == bytes.count else { return nil }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: maximum)
    while answer.count < maximum {
      let count = recv(descriptor, &chunk, maximum - answer.count, 0)
      guard count > 0 else { break }
      answer += chunk[..<count]
      if answer.contains(UInt8(ascii: "\n")) { break }
    }
    return answer
  }

  /// Where a client reaches us: an unspecified address becomes loopback.
  private func reachable(port: UInt16) -> SocketAddress {
    var copy = self
    withUnsafeMutableBytes(of: &copy.storage) { bytes in
      if isIPv6 {
        var address = bytes.load(as: sockaddr_in6.self)
        address.sin6_port = port.bigEndian
        let isUnspecified = withUnsafeBytes(of: address.sin6_addr) { $0.allSatisfy { $0 == 0 } }
        if isUnspecified { address.sin6_addr = in6addr_loopback }
        bytes.storeBytes(of: address, as: sockaddr_in6.self)
      } else {
        var address = bytes.load(as: sockaddr_in.self)
        address.sin_port = port.bigEndian
        if address.sin_addr.s_addr == 0 { address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian }
        bytes.storeBytes(of: address, as: sockaddr_in.self)
      }
    }
    return copy
  }
}
