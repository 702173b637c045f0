internal import COpenSSL
import PabalPrimitives

/// One TLS connection as bytes in, bytes out; it knows no socket. On one thread at a time.
///
/// Use: `feed` what the peer sent; `handshake` until it says true, then `read` until nil; `write`; after each of these
/// send what `takeOutput` gives, also after an error, because it may be an alert.
package final class TLSSession {
  /// The largest plaintext of a record (RFC 8446 §5.1).
  package static let recordBytes = 16 * 1024

  let ssl: OpaquePointer
  /// OpenSSL keeps its own part of the context alive, but the ALPN call-back is ours.
  private let context: TLSContextHandle
  private let input: OpaquePointer
  private let output: OpaquePointer
  private let isClient: Bool
  private let peer: String
  private let offered: [String]
  private let demandsAgreement: Bool
  private let buffer: UnsafeMutableRawBufferPointer
  private var totalTaken: UInt64 = 0

  /// The handshake is complete.
  package private(set) var isEstablished = false

  /// The peer sent close_notify.
  package private(set) var peerHasClosed = false

  /// - Parameter serverName: what the certificate must be for, and SNI unless it is an address.
  package convenience init(client context: TLSClientContext, serverName: String) throws(TLSError) {
    try self.init(
      context.handle, isClient: true, peer: serverName, offered: context.alpn, demandsAgreement: true)
    let parameters = SSL_get0_param(ssl)
    X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    if X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName) == 1 { return }
    guard SSL_set1_host(ssl, serverName) == 1, pabal_ssl_set_sni(ssl, serverName) == 1 else {
      throw TLSError(.wrongHost, "\"\(serverName)\" is not a host name. \(drainedErrors())")
    }
  }

  /// - Parameter peer: names the client in errors.
  package convenience init(server context: TLSServerContext, peer: String) throws(TLSError) {
    try self.init(
      context.handle, isClient: false, peer: peer, offered: [],
      demandsAgreement: context.withoutAgreement == .refuse)
  }

  private init(
    _ context: TLSContextHandle, isClient: Bool, peer: String, offered: [String], demandsAgreement: Bool
  ) throws(TLSError) {
    guard let ssl = SSL_new(context.pointer) else {
      throw TLSError(.other, "OpenSSL could not make a TLS session. \(drainedErrors())")
    }
    guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
      SSL_free(ssl)
      throw TLSError(.other, "OpenSSL could not make a TLS session. \(drainedErrors())")
    }
    pabal_bio_empty_is_retry(input)
    pabal_bio_empty_is_retry(output)
    SSL_set_bio(ssl, input, output)
    if isClient { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    self.ssl = ssl
    self.context = context
    self.input = input
    self.output = output
    self.isClient = isClient
    self.peer = peer
    self.offered = offered
    self.demandsAgreement = demandsAgreement
    buffer = .allocate(byteCount: Self.recordBytes, alignment: 16)
  }

  deinit {
    SSL_free(ssl)  // Frees both BIOs.
    buffer.deallocate()
  }

  /// Takes ciphertext from the peer. All of it is kept.
  package func feed(_ ciphertext: UnsafeRawBufferPointer) {
    BIO_write(input, ciphertext.baseAddress, Int32(clamping: ciphertext.count))
  }

  /// Goes on with the handshake; true once it is complete. A client begins with this call.
  ///
  /// The peer's certificate is verified and ALPN is agreed when this says true.
  package func handshake() throws(TLSError) -> Bool {
    if isEstablished { return true }
    clearErrors()
    let status = SSL_do_handshake(ssl)
    if status == 1 {
      let agreed = negotiatedProtocol
      let isAgreed = isClient ? offered.contains(agreed ?? "") : agreed != nil
      guard isAgreed || !demandsAgreement else { throw alpnError(isClient: isClient, peer: peer) }
      isEstablished = true
      return true
    }
    switch SSL_get_error(ssl, status) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return false
    default: throw sessionError(ssl, isClient: isClient, peer: peer)
    }
  }

  /// The next decrypted bytes, at most one record, valid until the next call; nil when more ciphertext is needed.
  package func read() throws(TLSError) -> UnsafeRawBufferPointer? {
    // An attempt that can only end in "later" costs as much as one that reads.
    guard !peerHasClosed, BIO_ctrl_pending(input) > 0 || SSL_has_pending(ssl) == 1 else { return nil }
    clearErrors()
    let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
    if count > 0 { return UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]) }
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
    case SSL_ERROR_ZERO_RETURN:
      peerHasClosed = true
      return nil
    default: throw sessionError(ssl, isClient: isClient, peer: peer)
    }
  }

  /// Encrypts bytes into `output`, a record for each 16 KiB.
  ///
  /// - Parameter record: called for each record, with the number of ciphertext bytes ever produced before it and the
  ///   number of plaintext bytes in it.
  package func write(
    _ plaintext: UnsafeRawBufferPointer, record: (_ outputBytesBefore: UInt64, _ plaintextBytes: Int) -> Void
  ) throws(TLSError) {
    var start = 0
    while start < plaintext.count {
      let count = min(Self.recordBytes, plaintext.count - start)
      let before = totalTaken + UInt64(BIO_ctrl_pending(output))
      clearErrors()
      let status = SSL_write(ssl, plaintext.baseAddress.map { $0 + start }, Int32(count))
      guard status == Int32(count) else { throw sessionError(ssl, isClient: isClient, peer: peer) }
      record(before, count)
      start += count
    }
  }

  /// Hands out the ciphertext that waits to be sent, if any.
  package func takeOutput(_ body: (UnsafeRawBufferPointer) -> Void) {
    var bytes: UnsafeMutablePointer<CChar>?
    let count = pabal_bio_data(output, &bytes)
    guard count > 0 else { return }
    body(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    totalTaken += UInt64(count)
    pabal_bio_reset(output)
  }

  /// Puts close_notify into the output.
  package func close() {
    guard isEstablished else { return }
    SSL_shutdown(ssl)
    ERR_clear_error()
  }

  /// What ALPN agreed on.
  package var negotiatedProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    guard let name, count > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
  }
}

/// `SSL_get_error` judges by this thread's queue, so nothing old may stand in it (SSL_get_error(3)). It is empty nearly
/// always, and to see that is cheaper than to clear it.
private func clearErrors() {
  if ERR_peek_error() != 0 { ERR_clear_error() }
}
