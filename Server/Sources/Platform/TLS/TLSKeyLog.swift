internal import COpenSSL

/// Secrets of sessions as text, so that a recorded conversation can be read with Wireshark: lines of NSS's key log
/// format, each without its end. Whoever has them can read everything: for stand-ins and tests alone.
package typealias TLSKeyLog = @Sendable (_ line: String) -> Void

extension TLSContextHandle {
  /// Tells the secrets of every session of this context.
  func tellKeys(to log: @escaping TLSKeyLog) {
    keyLog = log
    // Index 0 is the application's own (SSL_CTX_set_app_data).
    SSL_CTX_set_ex_data(pointer, 0, Unmanaged.passUnretained(self).toOpaque())
    SSL_CTX_set_keylog_callback(pointer) { ssl, line in
      guard let line, let ssl, let context = SSL_get_SSL_CTX(ssl), let data = SSL_CTX_get_ex_data(context, 0) else {
        return
      }
      // A session keeps its context's handle alive.
      Unmanaged<TLSContextHandle>.fromOpaque(data).takeUnretainedValue().keyLog?(String(cString: line))
    }
  }
}
