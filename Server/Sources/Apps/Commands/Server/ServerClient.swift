import ArgumentParsing
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Calls of a command to its server: HTTP/1.1, one connection a call, on a thread of its own.
struct ServerClient: Sendable, Unprintable {
  /// Answers longer than this are not read: all that commands ask for are pages of lists.
  private static let answerBytes = 16 << 20
  /// The longest a server waits for itself (`wait=10`), and some.
  private static let patienceSeconds = 20

  private let host: String
  private let port: UInt16
  private let key: String

  init(_ profile: ServerProfile) {
    host = profile.authority.host
    port = profile.authority.port
    key = profile.key
  }

  /// The body of a 2xx answer.
  ///
  /// - Throws: `ServerError` with the server's own words for everything else, exit code 7 when nobody answers.
  func call(_ method: String, _ path: String, body: JSONValue? = nil) async throws -> JSONSlice {
    let (status, value) = try await answer(method, path, body: body)
    guard (200...299).contains(status), let value else { throw ServerError(status: status, body: value) }
    return value
  }

  /// Status and JSON body, whatever they are.
  func answer(_ method: String, _ path: String, body: JSONValue? = nil) async throws -> (Int, JSONSlice?) {
    let request = Self.request(method, path, host: "\(host):\(port)", key: key, body: body?.encoded)
    let result = await OwnThread.run { Result { try exchange(request) } }
    return try Self.parse(try result.get())
  }

  /// Escapes a path segment or a query value (RFC 3986 section 2.1).
  static func escape(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        String(UnicodeScalar(byte))
      default: "%" + Hex.encode([byte]).uppercased()
      }
    }.joined()
  }

  private static func request(_ method: String, _ path: String, host: String, key: String, body: [UInt8]?) -> [UInt8] {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer \(key)\r\nConnection: close\r\n"
    if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
    return Array((head + "\r\n").utf8) + (body ?? [])
  }

  private func exchange(_ request: [UInt8]) throws -> [UInt8] {
    let socket = try connected()
    defer { close(socket) }
    var rest = request[...]
    while !rest.isEmpty {
      // A server that goes away must not end this process by SIGPIPE.
      let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw silence() }
      rest = rest.dropFirst(count)
    }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while answer.count <= Self.answerBytes {
      let count = recv(socket, &chunk, chunk.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw silence() }
      guard count > 0 else { return answer }
      answer += chunk.prefix(count)
    }
    throw ServerError("answer_too_long", "The server's answer is longer than \(Self.answerBytes) bytes.", .failure)
  }

  private func connected() throws -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0 else { throw unreachable() }
    defer { freeaddrinfo(list) }
    var next = list
    while let address = next?.pointee {
      next = address.ai_next
      let socket = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
      guard socket >= 0 else { continue }
      var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(socket, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
      }
      if connect(socket, address.ai_addr, address.ai_addrlen) == 0 { return socket }
      close(socket)
    }
    throw unreachable()
  }

  private func unreachable() -> ServerError {
    ServerError(
      "server_unreachable",
      "The server http://\(host):\(port) does not answer. Start it with `pabal up`, or correct PABAL_SERVER.",
      .unreachable)
  }

  private func silence() -> ServerError {
    ServerError(
      "server_silent", "The server http://\(host):\(port) took the call and did not answer. Look at its log.",
      .unreachable)
  }

  private static func parse(_ answer: [UInt8]) throws -> (Int, JSONSlice?) {
    let damaged = ServerError("answer_malformed", "What answers there does not speak HTTP/1.1.", .failure)
    guard
      let split = answer.indices.dropLast(3).first(where: { answer[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) })
    else { throw damaged }
    let lines = String(decoding: answer[..<split], as: UTF8.self).split(separator: "\r\n")
    guard let first = lines.first?.split(separator: " "), first.count >= 2, first[0].hasPrefix("HTTP/1."),
      let status = Int(first[1])
    else { throw damaged }
    let isChunked = lines.contains {
      $0.lowercased().hasPrefix("transfer-encoding:") && $0.lowercased().contains("chunked")
    }
    let raw = Array(answer[(split + 4)...])
    let body = isChunked ? joined(raw) : raw
    do {
      return (status, try JSONSlice(parsing: body))
    } catch {
      // Not JSON: the status is all there is to say.
      return (status, nil)
    }
  }

  /// Undoes chunked coding (RFC 9112 section 7.1); what is cut off is left out.
  private static func joined(_ raw: [UInt8]) -> [UInt8] {
    var body: [UInt8] = []
    var rest = raw[...]
    while let end = rest.firstIndex(of: 13) {
      let size = String(decoding: rest[..<end], as: UTF8.self).split(separator: ";").first ?? ""
      guard let count = Int(size, radix: 16), count > 0, rest.count >= end - rest.startIndex + 2 + count else { break }
      let start = end + 2
      body += rest[start..<(start + count)]
      rest = rest[(start + count)...].dropFirst(2)
    }
    return body
  }
}
