import CMicrohttpd

/// A connection of the library, to be woken from another thread.
///
/// Sendable by proof: the library documents `MHD_resume_connection` as callable from any thread, it does not free a
/// suspended connection, and both owners (`Exchange`, `StreamReader`) wake it at most once for each time they suspended
/// it, under a lock of theirs, and never touch it otherwise.
struct SuspendableConnection: @unchecked Sendable {
  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
  }

  /// On the library's thread only, inside a callback of this connection.
  func suspend() { MHD_suspend_connection(pointer) }

  func resume() { MHD_resume_connection(pointer) }
}
