internal import COpenSSL

/// The two spellings of an ECDSA signature: DER (what OpenSSL speaks) and r ‖ s (what JOSE speaks).
enum ES256Signature {
  static let byteCount = 64

  static func raw(fromDER der: ArraySlice<UInt8>) throws(CryptographyError) -> [UInt8] {
    let parsed = der.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &cursor, buffer.count)
    }
    let signature = try check(parsed, "read a signature")
    defer { ECDSA_SIG_free(signature) }
    var raw = [UInt8](repeating: 0, count: byteCount)
    let complete = raw.withUnsafeMutableBufferPointer { buffer -> Bool in
      guard let base = buffer.baseAddress else { return false }
      return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32) == 32
    }
    guard complete else { throw openSSLFailure("read a signature") }
    return raw
  }

  static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
    guard raw.count == byteCount, let signature = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(signature) }
    let r = raw.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
    let s = raw.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress.map { $0 + 32 }, 32, nil) }
    guard ECDSA_SIG_set0(signature, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      return nil
    }
    // A signature of two 256-bit integers takes at most 72 bytes of DER.
    var der = [UInt8](repeating: 0, count: 80)
    let count = der.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return i2d_ECDSA_SIG(signature, &cursor)
    }
    return count > 0 ? [UInt8](der.prefix(Int(count))) : nil
  }
}
