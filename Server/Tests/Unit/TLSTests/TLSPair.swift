import TLS

/// Two sessions that talk to each other in memory.
final class TLSPair {
  let client: TLSSession
  let server: TLSSession
  private(set) var toServer: [UInt8] = []
  private(set) var toClient: [UInt8] = []

  init(client: TLSClientContext, server: TLSServerContext, serverName: String = "localhost") throws {
    self.client = try TLSSession(client: client, serverName: serverName)
    self.server = try TLSSession(server: server, peer: "test")
  }

  func carry(_ from: TLSSession, to receiver: TLSSession) -> Int {
    var count = 0
    from.takeOutput {
      count = $0.count
      receiver.feed($0)
    }
    return count
  }

  /// Until both are established. Throws what the client met first, then what the server met.
  func handshake() throws {
    var clientError: (any Error)?
    var serverError: (any Error)?
    for _ in 0..<10 where clientError == nil {
      do { _ = try client.handshake() } catch { clientError = error }
      _ = carry(client, to: server)
      if serverError == nil {
        do { _ = try server.handshake() } catch { serverError = error }
      }
      if carry(server, to: client) == 0, client.isEstablished, server.isEstablished { return }
    }
    if let error = clientError ?? serverError { throw error }
  }

  func send(_ bytes: [UInt8], from sender: TLSSession, to receiver: TLSSession) throws -> [UInt8] {
    try bytes.withUnsafeBytes { try sender.write($0) { _, _ in } }
    _ = carry(sender, to: receiver)
    var received: [UInt8] = []
    while let piece = try receiver.read() { received.append(contentsOf: piece) }
    return received
  }
}
