import Glibc
import PabalPrimitives
import Testing

/// A client that sends exactly the bytes it is told and hands back exactly what came, on loopback.
///
/// Waits on a thread of its own: a blocked thread of the pool would keep the server's handlers from running, and one
/// that asks again and again would take the processor from them.
struct RawClient {
  /// Without a byte for so long a test that would hang fails instead. Sanitizers and busy machines need minutes.
  private static let patienceMilliseconds: CInt = 180_000

  let descriptor: CInt

  init(port: UInt16, receiveBuffer: Int? = nil) throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    if let receiveBuffer {
      var size = CInt(receiveBuffer)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw Failure(errno: errno) }
  }

  struct Failure: Error {
    let errno: CInt
  }

  func send(_ text: String) {
    send(Array(text.utf8))
  }

  /// False when the peer is gone.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.send(descriptor, buffer.baseAddress?.advanced(by: sent), bytes.count - sent, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// The next bytes; empty at the end or on an error.
  func receive(_ maximum: Int = 65536) async -> [UInt8] {
    let descriptor = descriptor
    let bytes = await OwnThread.run { () -> [UInt8]? in
      var request = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
      guard poll(&request, 1, Self.patienceMilliseconds) == 1 else { return nil }
      var buffer = [UInt8](repeating: 0, count: maximum)
      let count = recv(descriptor, &buffer, maximum, 0)
      return Array(buffer[..<max(0, count)])
    }
    if bytes == nil { Issue.record("nothing came for minutes, not even the end") }
    return bytes ?? []
  }

  /// Everything until `text` was seen or the peer ended.
  func receive(until text: String) async -> String {
    var all: [UInt8] = []
    while !String(decoding: all, as: UTF8.self).contains(text) {
      let more = await receive()
      if more.isEmpty { break }
      all += more
    }
    return String(decoding: all, as: UTF8.self)
  }

  /// Everything until the peer ends the connection.
  func receiveAll() async -> String {
    var all: [UInt8] = []
    while true {
      let more = await receive()
      if more.isEmpty { return String(decoding: all, as: UTF8.self) }
      all += more
    }
  }

  func endSending() {
    shutdown(descriptor, CInt(SHUT_WR))
  }

  func close() {
    Glibc.close(descriptor)
  }
}
