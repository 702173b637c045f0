import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Why a call brought no answer.
enum PlainHTTPFailure: Error {
  /// No connection came up.
  case unreachable
  /// The call was taken, and the connection ended without an answer.
  case silent
  case tooLong
  case malformed
}

/// Calls to a server of ours: HTTP/1.1, one connection a call, on a thread of its own.
struct PlainHTTPClient: Sendable, Unprintable {
  /// Answers longer than this are not read: all that commands ask for are pages of lists.
  static let answerBytes = 16 << 20
  /// The longest a server waits for itself (`wait=10`), and some.
  private static let patienceSeconds = 20

  struct Answer: Sendable {
    let status: Int
    let body: [UInt8]

    /// `nil` when the body is not JSON: the status is all there is to say.
    var json: JSONSlice? {
      do {
        return try JSONSlice(parsing: body)
      } catch {
        return nil
      }
    }
  }

  let authority: URLAuthority
  /// Whole lines without their ends, e.g. `Authorization: Bearer …`.
  var headers: [String] = []

  /// `host:port`.
  var place: String { "\(authority.host):\(authority.port)" }

  /// - Parameter path: percent-encoded, with its query.
  func call(
    _ method: String, _ path: String, body: JSONValue? = nil
  ) async throws(PlainHTTPFailure) -> Answer {
    let request = request(method, path, body: body?.encoded)
    let result = await OwnThread.run { () -> Result<[UInt8], PlainHTTPFailure> in
      do throws(PlainHTTPFailure) {
        return .success(try exchange(request))
      } catch {
        return .failure(error)
      }
    }
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

  private func request(_ method: String, _ path: String, body: [UInt8]?) -> [UInt8] {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: \(place)", "Connection: close"] + headers
    if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.count)"] }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? [])
  }

  private func exchange(_ request: [UInt8]) throws(PlainHTTPFailure) -> [UInt8] {
    let socket = try connected()
    defer { close(socket) }
    var rest = request[...]
    while !rest.isEmpty {
      // A server that goes away must not end this process by SIGPIPE.
      let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .silent }
      rest = rest.dropFirst(count)
    }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while answer.count <= Self.answerBytes {
      let count = recv(socket, &chunk, chunk.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .silent }
      guard count > 0 else {
        guard !answer.isEmpty else { throw .silent }
        return answer
      }
      answer += chunk.prefix(count)
    }
    throw .tooLong
  }

  private func connected() throws(PlainHTTPFailure) -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(authority.host, String(authority.port), &hints, &list) == 0 else { throw .unreachable }
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
    throw .unreachable
  }
}

extension PlainHTTPClient {
  fileprivate static func parse(_ answer: [UInt8]) throws(PlainHTTPFailure) -> Answer {
    guard
      let split = answer.indices.dropLast(3).first(where: { answer[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) })
    else { throw .malformed }
    let lines = String(decoding: answer[..<split], as: UTF8.self).split(separator: "\r\n")
    guard let first = lines.first?.split(separator: " "), first.count >= 2, first[0].hasPrefix("HTTP/1."),
      let status = Int(first[1])
    else { throw .malformed }
    let isChunked = lines.contains {
      $0.lowercased().hasPrefix("transfer-encoding:") && $0.lowercased().contains("chunked")
    }
    let raw = Array(answer[(split + 4)...])
    return Answer(status: status, body: isChunked ? joined(raw) : raw)
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
