internal import COpenSSL

/// Owns one reference-counted OpenSSL object that nobody changes after it was made.
///
/// `@unchecked Sendable`, proof: `pointer` is set once and freed once in `deinit`. What is kept here are keys
/// (`EVP_PKEY`), fetched algorithms (`EVP_MAC`, `EVP_KDF`, `EVP_CIPHER`), certificates and one keyed `EVP_MAC_CTX` that
/// is only ever duplicated. OpenSSL 3 allows all of these to be read from several threads at once (openssl-threads(7));
/// whatever changes during an operation is a context made and freed inside that call.
final class OpenSSLObject: @unchecked Sendable {
  let pointer: OpaquePointer
  private let free: @Sendable (OpaquePointer) -> Void

  init(_ pointer: OpaquePointer, free: @escaping @Sendable (OpaquePointer) -> Void) {
    self.pointer = pointer
    self.free = free
  }

  deinit { free(pointer) }
}

extension OpenSSLObject {
  static func key(_ pointer: OpaquePointer) -> OpenSSLObject {
    OpenSSLObject(pointer) { EVP_PKEY_free($0) }
  }

  static func certificate(_ pointer: OpaquePointer) -> OpenSSLObject {
    OpenSSLObject(pointer) { X509_free($0) }
  }
}

/// A memory BIO for one parse or one export.
struct MemoryBIO: ~Copyable {
  let pointer: OpaquePointer

  init() throws(CryptographyError) {
    pointer = try check(BIO_new(BIO_s_mem()), "make a memory buffer")
  }

  /// Copies `bytes`, so that they need not outlive the call.
  init(_ bytes: [UInt8]) throws(CryptographyError) {
    let bio = try check(BIO_new(BIO_s_mem()), "make a memory buffer")
    let taken = BIO_write(bio, bytes, CInt(clamping: bytes.count))
    guard Int(taken) == bytes.count else {
      BIO_free_all(bio)
      throw openSSLFailure("fill a memory buffer")
    }
    pointer = bio
  }

  deinit { BIO_free_all(pointer) }

  func bytes() -> [UInt8] {
    let count = BIO_ctrl_pending(pointer)
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = max(0, Int(BIO_read(pointer, buffer.baseAddress, CInt(clamping: count))))
    }
  }
}
