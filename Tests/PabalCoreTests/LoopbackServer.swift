import Foundation
import PabalPrimitives

/// A web server of a few lines on a free port of this machine: one call a connection, answers made by a closure.
final class LoopbackServer: Sendable {
  struct Request: Sendable {
    let line: String
    let headers: [String: String]
    let body: [UInt8]

    var path: String { String(line.split(separator: " ").dropFirst().first ?? "") }
  }

  let port: UInt16
  private let listener: Int32
  private let seen = Locked<[Request]>([])

  /// `answer` gives the whole response as bytes; empty: the connection is closed without one.
  init(answer: @escaping @Sendable (Request) -> [UInt8]) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    let thread = Thread { [listener, seen] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        if let request = Self.read(connection) {
          seen.withLock { $0.append(request) }
          Self.write(answer(request), to: connection)
        }
        close(connection)
      }
    }
    thread.start()
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  var requests: [Request] { seen.withLock { $0 } }

  func url(_ path: String) throws -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw POSIXError(.EINVAL) }
    return url
  }

  static func response(_ status: Int, _ headers: [String] = [], _ body: [UInt8] = []) -> [UInt8] {
    let head = ["HTTP/1.1 \(status) X", "Content-Length: \(body.count)", "Connection: close"] + headers
    return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
  }

  private static func read(_ connection: Int32) -> Request? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
          guard let colon = line.firstIndex(of: ":") else { continue }
          headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let bodyStart = text[..<end.upperBound].utf8.count
        if bytes.count - bodyStart >= Int(headers["content-length"] ?? "0") ?? 0 {
          return Request(line: lines[0], headers: headers, body: Array(bytes[bodyStart...]))
        }
      }
      let count = recv(connection, &chunk, chunk.count, 0)
      guard count > 0 else { return nil }
      bytes += chunk[..<count]
    }
  }

  private static func write(_ bytes: [UInt8], to connection: Int32) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      sent += count
    }
  }
}
