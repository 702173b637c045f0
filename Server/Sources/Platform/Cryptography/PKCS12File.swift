internal import COpenSSL
import PabalPrimitives

/// What lies in a .p12, as DER, so that nothing of it is bound to the library that opened it.
struct PKCS12Bags: Unprintable {
  /// PKCS#8, not encrypted.
  var keys: [[UInt8]] = []
  var certificates: [[UInt8]] = []
}

/// One parsed .p12 (RFC 7292), still locked.
struct PKCS12File: ~Copyable {
  /// Rounds of the key derivation in new files: OpenSSL's own default.
  static let iterations: CInt = 2048
  /// One identity with its chain has some 5 kB.
  static let maximumBytes = 1024 * 1024

  private let pointer: OpaquePointer
  private let library: OpaquePointer?

  /// - Parameter library: `nil` for the process's own.
  init(_ bytes: [UInt8], library: OpaquePointer?) throws(CryptographyError) {
    try Self.recognise(bytes)
    var file = PKCS12_init_ex(NID_pkcs7_data, library, nil)
    let buffer: MemoryBIO
    do {
      buffer = try MemoryBIO(bytes)
    } catch {
      PKCS12_free(file)
      throw error
    }
    guard file != nil, let parsed = d2i_PKCS12_bio(buffer.pointer, &file) else {
      // What it was given is freed and cleared when the content is wrong, but left alone when the lengths are.
      PKCS12_free(file)
      throw .p12(
        "p12_malformed", "The file is no .p12, or is damaged. Copy it again as a binary file, or export it again.",
        cause: OpenSSLErrorStack.drained())
    }
    pointer = parsed
    self.library = library
  }

  deinit { PKCS12_free(pointer) }

  /// - Throws: `passphrase_missing`, `passphrase_wrong`, `p12_passphrase_unneeded`.
  borrowing func checkPassphrase(_ passphrase: String?) throws(CryptographyError) {
    guard PKCS12_mac_present(pointer) == 1 else { return }
    let given = passphrase ?? ""
    if given.isEmpty {
      guard !opensWithoutPassphrase else { return }
      throw .passphraseMissing("The .p12")
    }
    guard PKCS12_verify_mac(pointer, given, CInt(clamping: given.utf8.count)) != 1 else { return }
    let cause = OpenSSLErrorStack.drained()
    guard !opensWithoutPassphrase else {
      throw .p12(
        "p12_passphrase_unneeded", "The .p12 has no passphrase, but one was given. Leave it out.", cause: cause)
    }
    throw .passphraseWrong("the .p12", cause: cause)
  }

  /// Everything inside; `nil` when a part cannot be decrypted or read here, with OpenSSL's error stack saying why.
  borrowing func bags(passphrase: String?) -> PKCS12Bags? {
    let secret = passphrase ?? ""
    // Tools differ in whether "none" is no passphrase at all or one of length 0.
    let isAbsent = secret.isEmpty && PKCS12_mac_present(pointer) == 1 && PKCS12_verify_mac(pointer, nil, 0) == 1
    _ = OpenSSLErrorStack.drained()
    return isAbsent ? collect(nil, 0) : collect(secret, CInt(clamping: secret.utf8.count))
  }

  private var opensWithoutPassphrase: Bool {
    let opens = PKCS12_verify_mac(pointer, nil, 0) == 1 || PKCS12_verify_mac(pointer, "", 0) == 1
    _ = OpenSSLErrorStack.drained()
    return opens
  }

  private borrowing func collect(_ secret: UnsafePointer<CChar>?, _ length: CInt) -> PKCS12Bags? {
    guard let safes = PKCS12_unpack_authsafes(pointer) else { return nil }
    defer { OPENSSL_sk_pop_free(safes) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) } }
    var bags = PKCS12Bags()
    for index in 0..<max(0, OPENSSL_sk_num(safes)) {
      guard let safe = OPENSSL_sk_value(safes, index)?.assumingMemoryBound(to: PKCS7.self) else { return nil }
      let content =
        OBJ_obj2nid(safe.pointee.type) == NID_pkcs7_encrypted
        ? PKCS12_unpack_p7encdata(safe, secret, length) : PKCS12_unpack_p7data(safe)
      guard let content else { return nil }
      defer { OPENSSL_sk_pop_free(content) { PKCS12_SAFEBAG_free($0.map(OpaquePointer.init)) } }
      for index in 0..<max(0, OPENSSL_sk_num(content)) {
        guard let bag = OPENSSL_sk_value(content, index).map(OpaquePointer.init),
          take(bag, secret, length, into: &bags)
        else { return nil }
      }
    }
    return bags
  }

  /// Other kinds of bags are passed over.
  private borrowing func take(
    _ bag: OpaquePointer, _ secret: UnsafePointer<CChar>?, _ length: CInt, into bags: inout PKCS12Bags
  ) -> Bool {
    switch PKCS12_SAFEBAG_get_nid(bag) {
    case NID_keyBag:
      guard let der = Self.encoding({ i2d_PKCS8_PRIV_KEY_INFO(PKCS12_SAFEBAG_get0_p8inf(bag), $0) }) else {
        return false
      }
      bags.keys.append(der)
    case NID_pkcs8ShroudedKeyBag:
      guard let key = PKCS12_decrypt_skey_ex(bag, secret, length, library, nil) else { return false }
      defer { PKCS8_PRIV_KEY_INFO_free(key) }
      guard let der = Self.encoding({ i2d_PKCS8_PRIV_KEY_INFO(key, $0) }) else { return false }
      bags.keys.append(der)
    case NID_certBag where PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate:
      guard let certificate = PKCS12_SAFEBAG_get1_cert(bag) else { return false }
      defer { X509_free(certificate) }
      guard let der = Self.encoding({ i2d_X509(certificate, $0) }) else { return false }
      bags.certificates.append(der)
    default: break
    }
    return true
  }

  /// Runs one of OpenSSL's encoders: first for the size, then for the bytes.
  private static func encoding(
    _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt
  ) -> [UInt8]? {
    let count = encode(nil)
    guard count > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    let written = bytes.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return encode(&cursor)
    }
    return written == count ? bytes : nil
  }

  /// The usual mix-ups, by name.
  private static func recognise(_ bytes: [UInt8]) throws(CryptographyError) {
    guard !bytes.isEmpty else { throw .p12("p12_malformed", "The .p12 is empty. Export it again.") }
    guard bytes.count <= maximumBytes else {
      throw .p12(
        "p12_malformed", "The .p12 has \(bytes.count) bytes; at most \(maximumBytes) are read. Export one identity.")
    }
    let head = String(decoding: bytes.prefix(256), as: UTF8.self)
    if head.contains("-----BEGIN ") {
      throw .p12(
        "p12_malformed",
        "This is PEM text, not a .p12. An authentication key (.p8) and a PEM certificate are given as what they are.")
    }
    if bytes[0] != DERTag.sequence {
      throw .p12(
        "p12_malformed", "The file is no .p12 (they start with byte 30). Export the certificate and its key again.")
    }
  }
}
