#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A free port on 127.0.0.1, nobody else's until `end`, whose connections the kernel takes and nobody answers; or
/// whose connections it refuses.
package struct SilentPort: Sendable {
  package let port: UInt16
  private let descriptor: Int32

  package init(refuses: Bool = false) throws {
    #if canImport(Darwin)
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && (refuses || listen(descriptor, 16) == 0)
          && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw TestFiles.Failure(description: "no silent port: \(reason)")
    }
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
  }

  package func end() { close(descriptor) }
}
