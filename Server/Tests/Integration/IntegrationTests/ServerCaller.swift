#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import PabalPrimitives
import Testing

/// One HTTP/1.1 call a connection, on a thread of its own: a stranger to the server's code.
struct ServerCaller: Sendable {
  struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> JSONSlice { try JSONSlice(parsing: body) }
  }

  /// The connection ended without a whole answer: what a client sees of a killed server.
  struct NoAnswer: Error {
    /// The request had left for the server.
    var wasSent = true
  }

  let port: UInt16
  var key: String?

  /// - Parameter url: `http://127.0.0.1:PORT`.
  init(_ url: String, key: String? = nil) throws {
    port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
    self.key = key
  }

  @discardableResult
  func callAsFunction(
    _ method: String, _ path: String, _ body: JSONValue? = nil, headers: [String: String] = [:]
  ) async throws -> Answer {
    let content = body?.encoded ?? []
    var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
    if let key, headers["Authorization"] == nil { head += "Authorization: Bearer \(key)\r\n" }
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if body != nil { head += "Content-Type: application/json\r\nContent-Length: \(content.count)\r\n" }
    let request = Array((head + "\r\n").utf8) + content
    return try await withCheckedThrowingContinuation { continuation in
      TestThread.start { continuation.resume(with: Result { try Self.exchange(request, port: port) }) }
    }
  }

  private static func exchange(_ request: [UInt8], port: UInt16) throws -> Answer {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw NoAnswer(wasSent: false) }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw NoAnswer(wasSent: false) }
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw NoAnswer()
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count >= 0 else { throw NoAnswer() }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return try parse(bytes)
  }

  private static func parse(_ bytes: [UInt8]) throws -> Answer {
    let separator = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }) else { throw NoAnswer() }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count >= 2, let status = Int(words[1]) else { throw NoAnswer() }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description }
    }
    let body = Array(bytes[(end + separator.count)...])
    guard body.count >= headers["content-length"].flatMap({ Int($0) }) ?? 0 else { throw NoAnswer() }
    return Answer(status: status, headers: headers, body: body)
  }
}

enum TestThread {
  private final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  static func start(_ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Start(body)).toOpaque()
    #if canImport(Darwin)
    var thread: pthread_t?
    let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
      Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body()
      return nil
    }
    pthread_create(&thread, nil, run, context)
    if let thread { pthread_detach(thread) }
    #else
    var thread = pthread_t()
    let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
      if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body() }
      return nil
    }
    pthread_create(&thread, nil, run, context)
    pthread_detach(thread)
    #endif
  }
}
