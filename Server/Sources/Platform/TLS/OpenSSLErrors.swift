internal import COpenSSL

/// Empties this thread's error queue into one line of OpenSSL's own words.
func drainedErrors() -> String {
  var reasons: [String] = []
  while case let code = ERR_get_error(), code != 0 {
    if let reason = ERR_reason_error_string(code) { reasons.append(String(cString: reason)) }
  }
  return reasons.isEmpty ? "OpenSSL gave no reason." : "OpenSSL says: \(reasons.joined(separator: "; "))."
}
