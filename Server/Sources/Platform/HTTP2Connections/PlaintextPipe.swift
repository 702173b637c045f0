import EventLoop
import HTTP2
import TLS
import PabalPrimitives

/// Who sees plaintext. All calls come on the loop's thread.
protocol PlaintextPipeOwner: AnyObject {
  /// TCP and TLS are up, `h2` is agreed.
  func pipeOpened()
  func pipeReceived(_ bytes: UnsafeRawBufferPointer)
  /// Everything of one read event was given.
  func pipeReadEnded()
  /// The kernel took bytes that had waited.
  func pipeFlushed()
  /// The last call. nil: TCP ended without a complaint.
  func pipeClosed(_ error: (any Error)?)
}

/// A TCP channel, with TLS or without, as plaintext bytes.
final class PlaintextPipe: ByteChannelHandler {
  /// A TLS record on its way to the kernel.
  private struct Record {
    var outputStart: UInt64
    var plaintextEnd: UInt64
  }

  private let tls: TLSSession?
  private let isClient: Bool
  /// Until the proxy has opened the tunnel.
  private var tunnel: ConnectTunnelMachine?
  /// Bytes of the channel that went to the proxy itself.
  private var preludeBytes: UInt64 = 0
  var owner: (any PlaintextPipeOwner)?
  var channel: (any ByteChannel)?
  private var records: [Record] = []
  private var firstRecord = 0
  private var plaintextWritten: UInt64 = 0
  private var plaintextReached: UInt64 = 0
  private var failure: (any Error)?
  private var isClosing = false
  private(set) var isOpen = false

  init(tls: TLSSession?, isClient: Bool, tunnel: ConnectTunnelMachine? = nil) {
    self.tls = tls
    self.isClient = isClient
    self.tunnel = tunnel
  }

  var unsentBytes: Int { channel?.unsentBytes ?? 0 }

  var peerCertificate: [UInt8]? { tls?.peerCertificate }

  /// The kernel has a byte of the record of every plaintext byte before this offset. Without TLS a byte is its own
  /// record.
  var plaintextTaken: UInt64 {
    guard let channel else { return plaintextReached }
    let taken = channel.totalBytesTaken - min(channel.totalBytesTaken, preludeBytes)
    guard tls != nil else { return taken }
    while firstRecord < records.count, records[firstRecord].outputStart < taken {
      plaintextReached = records[firstRecord].plaintextEnd
      firstRecord += 1
    }
    if firstRecord == records.count {
      records.removeAll(keepingCapacity: true)
      firstRecord = 0
    }
    return plaintextReached
  }

  /// Encrypts and gives to the kernel. Dropped once the pipe is closing.
  func send(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
    guard !isClosing else { return }
    guard let tls else {
      channel?.write(plaintext)
      return
    }
    try tls.write(plaintext) { outputBefore, count in
      plaintextWritten += UInt64(count)
      records.append(Record(outputStart: outputBefore, plaintextEnd: plaintextWritten))
    }
    sendOutput()
  }

  private func sendOutput() {
    tls?.takeOutput { channel?.write($0) }
  }

  /// Closes after what was sent, with close_notify. `error` comes back in `pipeClosed`.
  func close(_ error: (any Error)?) {
    guard !isClosing else { return }
    isClosing = true
    failure = failure ?? error
    tls?.close()
    sendOutput()
    channel?.close()
  }

  /// Resets TCP.
  func abort(_ error: (any Error)?) {
    isClosing = true
    failure = failure ?? error
    channel?.abort()
  }

  func pauseReading() { channel?.pauseReading() }
  func resumeReading() { channel?.resumeReading() }

  // MARK: ByteChannelHandler

  func channelDidConnect() {
    guard let actions = tunnel?.handle(.connected) else { return reachedPeer() }
    run(actions)
  }

  private func run(_ actions: [ConnectTunnelMachine.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes):
        preludeBytes += UInt64(bytes.count)
        bytes.withUnsafeBytes { channel?.write($0) }
      case .open(let rest):
        tunnel = nil
        reachedPeer()
        if !rest.isEmpty { rest.withUnsafeBytes { channelDidReceive($0) } }
      case .fail(let error):
        tunnel = nil
        close(error)
      }
    }
  }

  /// TCP to the peer is up.
  private func reachedPeer() {
    guard let tls, isClient else { return opened() }
    do {
      _ = try tls.handshake()
      sendOutput()
    } catch {
      fail(error)
    }
  }

  /// Of a server, whose channels are connected from the start.
  func accepted() {
    if tls == nil { opened() }
  }

  private func opened() {
    isOpen = true
    owner?.pipeOpened()
  }

  func channelDidReceive(_ bytes: UnsafeRawBufferPointer) {
    guard !isClosing else { return }
    if let actions = tunnel?.handle(.received(Array(bytes))) { return run(actions) }
    guard let tls else {
      owner?.pipeReceived(bytes)
      owner?.pipeReadEnded()
      return
    }
    do {
      tls.feed(bytes)
      if !isOpen {
        let isEstablished = try tls.handshake()
        sendOutput()
        guard isEstablished else { return }
        opened()
      }
      while !isClosing, let plaintext = try tls.read() { owner?.pipeReceived(plaintext) }
      sendOutput()
      owner?.pipeReadEnded()
      if tls.peerHasClosed { close(nil) }
    } catch {
      fail(error)
    }
  }

  /// What OpenSSL still wants to say is an alert.
  private func fail(_ error: any Error) {
    sendOutput()
    close(error)
  }

  func channelDidFlush(totalBytesTaken: UInt64) {
    owner?.pipeFlushed()
  }

  func channelDidClose(_ error: ChannelError?) {
    if error == nil, !isClosing, let actions = tunnel?.handle(.ended) { run(actions) }
    isClosing = true
    let owner = owner
    self.owner = nil
    owner?.pipeClosed(failure ?? error)
  }
}
