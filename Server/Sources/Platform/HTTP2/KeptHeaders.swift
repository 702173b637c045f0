#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The names of the response headers that a client reads: all others are dropped as they arrive, so that a response
/// without them costs no allocation.
struct KeptHeaders {
  private struct Name {
    var start: UnsafeMutablePointer<UInt8>
    var count: Int
  }

  private let names: UnsafeMutableBufferPointer<Name>
  private let keepsAll: Bool

  /// - Parameter names: in lower case; nil keeps all.
  init(_ names: [String]?) {
    keepsAll = names == nil
    let names = names ?? []
    self.names = .allocate(capacity: names.count)
    for (index, name) in names.enumerated() {
      let bytes = Array(name.utf8)
      let start = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
      start.initialize(from: bytes, count: bytes.count)
      self.names.initializeElement(at: index, to: Name(start: start, count: bytes.count))
    }
  }

  func deallocate() {
    for name in names { name.start.deallocate() }
    names.deallocate()
  }

  func contains(_ name: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    if keepsAll { return true }
    for kept in names where kept.count == count && memcmp(kept.start, name, count) == 0 { return true }
    return false
  }
}
