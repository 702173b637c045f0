internal import CUV
import PabalPrimitives

/// A listening TCP socket.
final class UVListener: ByteListener, UVStoppable {
  /// Connections that may wait for `accept` in the kernel; beyond it they are refused.
  private static let backlog: Int32 = 1024

  let port: UInt16
  private unowned let core: UVLoopCore
  private let accept: (any ByteChannel) -> (any ByteChannelHandler)?
  private var tcp: UVTCP?

  init(
    core: UVLoopCore, endpoint: Endpoint, accept: @escaping (any ByteChannel) -> (any ByteChannelHandler)?
  ) throws(ChannelError) {
    guard !core.isStopping else {
      throw ChannelError(.loopStopped, "Cannot listen on \(endpoint): the event loop is stopping.")
    }
    guard var address = SocketAddress(literal: endpoint) else {
      throw ChannelError(
        .nameNotFound, "Cannot listen on \(endpoint): give an address such as 127.0.0.1 or ::1.")
    }
    let tcp = UVTCP.allocate(capacity: 1)
    uv_tcp_init(core.uv, tcp)
    self.core = core
    self.accept = accept
    self.tcp = tcp
    var status = address.withPointer { uv_tcp_bind(tcp, $0, 0) }
    if status == 0 {
      status = uv_listen(asStream(tcp), Self.backlog) { stream, status in
        owner(of: stream?.pointee.data, as: UVListener.self).connectionWaits(status)
      }
    }
    port = status == 0 ? SocketAddress.localPort(of: tcp) : 0
    tcp.pointee.data = retainedData(self)
    core.register(self)
    guard status == 0 else {
      close()
      throw channelError(status, doing: "listening on \(endpoint)")
    }
  }

  func close() {
    guard let tcp else { return }
    self.tcp = nil
    core.unregister(self)
    uv_close(asHandle(tcp)) { handle in
      release(data: handle?.pointee.data)
      UnsafeMutableRawPointer(handle)?.deallocate()
    }
  }

  func loopWillStop() { close() }

  private func connectionWaits(_ status: Int32) {
    // A failed accept (no descriptor left) concerns one client, who sees it; libuv goes on listening.
    guard status == 0, let tcp else { return }
    let channel = UVChannel(core: core, handler: nil)
    channel.acceptFrom(tcp, accept)
  }
}
