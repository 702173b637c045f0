internal import COpenSSL
import PabalPrimitives

/// What OpenSSL left on this thread's error stack, oldest first, e.g. `error:0909006C:PEM routines::no start line`.
struct OpenSSLErrorStack: Error, CustomStringConvertible {
  let entries: [String]

  var description: String { entries.isEmpty ? "OpenSSL gave no reason" : entries.joined(separator: "; ") }

  /// Empties the stack, so that no later call on this thread is blamed for this failure.
  static func drained() -> OpenSSLErrorStack {
    var entries: [String] = []
    while true {
      let number = ERR_get_error()
      guard number != 0 else { return OpenSSLErrorStack(entries: entries) }
      var text = [CChar](repeating: 0, count: 256)
      ERR_error_string_n(number, &text, text.count)
      entries.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
  }
}

/// The one way from a failed OpenSSL call to our error.
func openSSLFailure(_ operation: StaticString, file: String = #fileID, line: Int = #line) -> CryptographyError {
  CryptographyError(
    code: "openssl_failed",
    message: "OpenSSL could not \(operation). Check that OpenSSL 3 is installed whole and memory is left.",
    cause: OpenSSLErrorStack.drained(), file: file, line: line)
}

/// Status of the many calls that answer 1 for success.
func check(_ status: CInt, _ operation: StaticString, file: String = #fileID, line: Int = #line)
  throws(CryptographyError)
{
  guard status == 1 else { throw openSSLFailure(operation, file: file, line: line) }
}

func check(
  _ pointer: OpaquePointer?, _ operation: StaticString, file: String = #fileID, line: Int = #line
) throws(CryptographyError) -> OpaquePointer {
  guard let pointer else { throw openSSLFailure(operation, file: file, line: line) }
  return pointer
}
