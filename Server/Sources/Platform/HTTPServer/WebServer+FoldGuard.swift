import PabalPrimitives

// Proves at the start that the fold guard still fits the library: it rests on the layout of a buffer that is not ours.
extension WebServer {
  /// Sends itself two requests that no handler sees: an honest one must pass, a folded one must be seen.
  func checkFoldGuard(_ address: SocketAddress, port: UInt16) throws(WebServerError) {
    guard HeaderLayout.isNeeded else { return }
    let path = "/.pabal-canary-" + Hex.encode(configuration.randomness.fill(16))
    state.withLock { $0.canary = Array(path.utf8) }
    defer { state.withLock { $0.canary = nil } }
    let end = "Connection: close\r\n\r\n"
    let honest = "GET \(path) HTTP/1.1\r\nHost: canary\r\nX-Canary:  plain\r\n\(end)"
    let folded = "GET \(path) HTTP/1.1\r\nHost: canary\r\nX-Canar: folded\r\n y\r\n\(end)"
    guard status(address, port, honest) == 204, status(address, port, folded) == 400 else {
      throw WebServerError(
        .guardFailed,
        "The installed libmicrohttpd lays out headers in a way that the guard against folded headers cannot read. "
          + "Install another version, and report this one.")
    }
  }

  func canaryReply(_ head: RequestHead) -> HTTPResponse {
    HTTPResponse(status: head.headers.allSatisfy(\.isOneLine) ? 204 : 400)
  }

  private func status(_ address: SocketAddress, _ port: UInt16, _ request: String) -> Int? {
    guard let answer = address.ask(port: port, Array(request.utf8), maximum: 64) else { return nil }
    let words = answer.split(separator: UInt8(ascii: " "))
    return words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) : nil
  }
}
