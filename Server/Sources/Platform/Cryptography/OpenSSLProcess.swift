internal import COpenSSL

/// OpenSSL as a part of this process.
package enum OpenSSLProcess {
  /// Keeps OpenSSL's state for as long as the process lives, instead of having `exit` free it under threads that are
  /// still at work or just ending: there is no order in which a process could end all of Swift's threads first.
  ///
  /// Counts only before any other use of OpenSSL.
  package static func outliveThreads() {
    pabal_openssl_outlives_threads()
  }
}
