internal import CUV
import PabalPrimitives

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A TCP stream on a libuv loop.
///
/// Bytes are given to the kernel by `uv_try_write` alone, whose result says exactly how many it took. When it takes
/// none, one byte goes through `uv_write`: its call-back tells that the socket is writable again, and one byte is
/// either taken or not, so that `totalBytesTaken` stays exact. libuv does not say how much of a failed larger
/// `uv_write` had left, and with it "sent" and "unsent" pushes could not be told apart.
final class UVChannel: ByteChannel, UVStoppable {
  /// How long a closing channel waits for the peer's own end, discarding what still comes. Closing at once while
  /// bytes wait to be read would send a reset, which can overtake our last bytes.
  private static let lingerTime = Duration.seconds(1)

  private enum State {
    /// Can transition to: open, ended.
    case connecting
    /// Can transition to: closing, ended.
    case open
    /// `close` was called; unsent bytes and then the peer's end are awaited. Can transition to: ended.
    case closing
    case ended
  }

  private unowned let core: UVLoopCore
  private var handler: (any ByteChannelHandler)?
  private var state = State.connecting
  private var tcp: UVTCP?
  private var dialling: UVDial?
  private var isReading = false
  private var isPaused = false
  private var hasShutDown = false
  private var isFinished = false

  /// Bytes that wait, from `pendingStart`.
  private var pending: [UInt8] = []
  private var pendingStart = 0
  private let probe: UnsafeMutablePointer<WriteProbe>
  private var writeFailure: ChannelError?
  private(set) var totalBytesTaken: UInt64 = 0

  var unsentBytes: Int { pending.count - pendingStart }

  init(core: UVLoopCore, handler: (any ByteChannelHandler)?) {
    self.core = core
    self.handler = handler
    probe = .allocate(capacity: 1)
    probe.initialize(to: WriteProbe())
    core.register(self)
  }

  deinit {
    probe.deallocate()
  }

  // MARK: Dialling and accepting

  func dial(_ endpoint: Endpoint) {
    // Nobody is left to be told: a handler that dials again at each end would keep the loop from stopping.
    guard !core.isStopping else { return end(nil) }
    let dial = UVDial(core: core, endpoint: endpoint) { [weak self] in self?.dialled($0) }
    dialling = dial
    dial.start()
  }

  private func dialled(_ result: UVDial.End) {
    dialling = nil
    guard case .connecting = state else { return }
    switch result {
    case .failed(let error): return end(error)
    case .connected(let tcp):
      tcp.pointee.data = retainedData(self)
      self.tcp = tcp
    }
    state = .open
    startReading()
    handler?.channelDidConnect()
    guard unsentBytes > 0, case .open = state else { return }
    let before = totalBytesTaken
    writePending()
    if totalBytesTaken != before { handler?.channelDidFlush(totalBytesTaken: totalBytesTaken) }
  }

  func acceptFrom(_ listener: UVTCP, _ accept: (any ByteChannel) -> (any ByteChannelHandler)?) {
    let tcp = openSocket()
    guard uv_accept(asStream(listener), asStream(tcp)) == 0 else { return end(nil) }
    state = .open
    guard let handler = accept(self) else { return abort() }
    self.handler = handler
    if case .open = state { startReading() }
  }

  private func openSocket() -> UVTCP {
    let tcp = UVTCP.allocate(capacity: 1)
    uv_tcp_init(core.uv, tcp)
    // Requests are small and answered one by one: waiting for more bytes (Nagle) would only add latency.
    uv_tcp_nodelay(tcp, 1)
    tcp.pointee.data = retainedData(self)
    self.tcp = tcp
    return tcp
  }

  /// The object is released when libuv has let go of the handle.
  private func closeSocket(reset: Bool = false) {
    guard let tcp else { return }
    self.tcp = nil
    isReading = false
    if reset, uv_tcp_close_reset(tcp, Self.socketClosed) == 0 { return }
    uv_close(asHandle(tcp), Self.socketClosed)
  }

  private static let socketClosed: uv_close_cb = { handle in
    release(data: handle?.pointee.data)
    UnsafeMutableRawPointer(handle)?.deallocate()
  }

  // MARK: Reading

  func pauseReading() {
    isPaused = true
    guard isReading, let tcp else { return }
    uv_read_stop(asStream(tcp))
    isReading = false
  }

  func resumeReading() {
    isPaused = false
    startReading()
  }

  private func startReading() {
    guard !isReading, let tcp else { return }
    if case .open = state, isPaused { return }
    isReading = true
    uv_read_start(
      asStream(tcp),
      { handle, _, buffer in
        let memory = owner(of: handle?.pointee.data, as: UVChannel.self).core.readBuffer
        buffer?.pointee = uv_buf_init(memory.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(memory.count))
      },
      { stream, count, buffer in
        guard count != 0 else { return }  // EAGAIN by another name.
        owner(of: stream?.pointee.data, as: UVChannel.self).received(count, buffer?.pointee.base)
      })
  }

  private func received(_ count: Int, _ bytes: UnsafeMutablePointer<CChar>?) {
    guard count > 0 else {
      let status = Int32(truncatingIfNeeded: count)
      if let writeFailure { return end(writeFailure) }
      return end(status == UV_EOF.rawValue ? nil : channelError(status, doing: "reading"))
    }
    guard case .open = state else { return }  // A closing channel discards.
    handler?.channelDidReceive(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  // MARK: Writing

  func write(_ bytes: UnsafeRawBufferPointer) {
    switch state {
    case .connecting: pending.append(contentsOf: bytes)
    case .open:
      guard writeFailure == nil else { return }
      var taken = 0
      if unsentBytes == 0 {
        taken = tryWrite(bytes)
        guard writeFailure == nil else { return }
      }
      guard taken < bytes.count else { return }
      pending.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[taken...]))
      awaitWritable()
    case .closing, .ended: break
    }
  }

  /// How many bytes the kernel took; 0 with `writeFailure` set when the connection is gone.
  private func tryWrite(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let tcp, !bytes.isEmpty else { return 0 }
    let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    var buffer = uv_buf_init(base, UInt32(clamping: bytes.count))
    let status = uv_try_write(asStream(tcp), &buffer, 1)
    if status >= 0 {
      totalBytesTaken += UInt64(status)
      return Int(status)
    }
    if status != UV_EAGAIN.rawValue { writeFailed(channelError(status, doing: "writing")) }
    return 0
  }

  /// The peer is gone, but what it said before may still wait to be read: its last answers and its GOAWAY. The read
  /// side meets the same end at once.
  private func writeFailed(_ error: ChannelError) {
    writeFailure = error
    isPaused = false
    startReading()
    core.schedule(after: Self.lingerTime) { [weak self] in self?.end(error) }
  }

  private func writePending() {
    // libuv may have given the probe's byte away already: to try again before its call-back would send it twice.
    guard !probe.pointee.isUnderWay else { return }
    while unsentBytes > 0, writeFailure == nil {
      let taken = pending.withUnsafeBytes { tryWrite(UnsafeRawBufferPointer(rebasing: $0[pendingStart...])) }
      guard taken > 0 else { break }
      pendingStart += taken
    }
    if pendingStart == pending.count {
      pending.removeAll(keepingCapacity: pending.capacity <= 1 << 20)
      pendingStart = 0
      if case .closing = state { shutDown() }
    } else if writeFailure == nil {
      awaitWritable()
    }
  }

  private func awaitWritable() {
    guard let tcp, !probe.pointee.isUnderWay else { return }
    probe.pointee.isUnderWay = true
    probe.pointee.byte = CChar(bitPattern: pending[pendingStart])
    let request = WriteProbe.request(of: probe)
    request.pointee.data = retainedData(self)
    var buffer = uv_buf_init(WriteProbe.byte(of: probe), 1)
    let status = uv_write(request, asStream(tcp), &buffer, 1) { request, status in
      let channel = owner(of: request?.pointee.data, as: UVChannel.self)
      release(data: request?.pointee.data)
      channel.becameWritable(status)
    }
    guard status == 0 else {
      probe.pointee.isUnderWay = false
      release(data: request.pointee.data)
      return writeFailed(channelError(status, doing: "writing"))
    }
  }

  private func becameWritable(_ status: Int32) {
    probe.pointee.isUnderWay = false
    guard status == 0 else {
      if tcp != nil, writeFailure == nil { writeFailed(channelError(status, doing: "writing")) }
      return
    }
    pendingStart += 1
    totalBytesTaken += 1
    writePending()
    handler?.channelDidFlush(totalBytesTaken: totalBytesTaken)
  }

  // MARK: Ending

  func close() {
    switch state {
    case .connecting: endLater(nil)
    case .open:
      state = .closing
      isPaused = false
      startReading()
      if unsentBytes == 0 { shutDown() }
    case .closing, .ended: break
    }
  }

  private func shutDown() {
    guard let tcp, !hasShutDown else { return }
    hasShutDown = true
    let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
    let status = uv_shutdown(request, asStream(tcp)) { request, _ in request?.deallocate() }
    if status != 0 {
      request.deallocate()
      return endLater(nil)
    }
    core.schedule(after: Self.lingerTime) { [weak self] in self?.end(nil) }
  }

  func abort() {
    if case .ended = state { return }
    closeSocket(reset: true)
    endLater(nil)
  }

  func loopWillStop() {
    guard !isFinished else { return }
    state = .ended
    finish(ChannelError(.loopStopped, "The event loop was stopped while the connection was open."))
  }

  private func endLater(_ error: ChannelError?) {
    if case .ended = state { return }
    state = .ended
    cancelDial()
    core.schedule(after: .zero) { self.finish(error) }
  }

  private func cancelDial() {
    dialling?.cancel()
    dialling = nil
  }

  private func end(_ error: ChannelError?) {
    if case .ended = state { return }
    state = .ended
    finish(error)
  }

  private func finish(_ error: ChannelError?) {
    guard !isFinished else { return }
    isFinished = true
    core.unregister(self)
    closeSocket()
    cancelDial()
    let handler = handler
    self.handler = nil
    handler?.channelDidClose(error)
  }
}

/// A write of one byte under way, at an address that does not move.
private struct WriteProbe {
  var request = uv_write_t()
  var byte: CChar = 0
  var isUnderWay = false

  /// Not `&probe.pointee.request`, whose address may be that of a copy.
  static func request(of probe: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<uv_write_t> {
    field(of: probe, at: MemoryLayout<Self>.offset(of: \.request))
  }

  static func byte(of probe: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<CChar> {
    field(of: probe, at: MemoryLayout<Self>.offset(of: \.byte))
  }

  private static func field<Field>(
    of probe: UnsafeMutablePointer<Self>, at offset: Int?
  ) -> UnsafeMutablePointer<Field> {
    guard let offset else { preconditionFailure("a stored property has an offset") }
    return (UnsafeMutableRawPointer(probe) + offset).assumingMemoryBound(to: Field.self)
  }
}
