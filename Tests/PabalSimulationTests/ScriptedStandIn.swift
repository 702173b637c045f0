import Foundation
import PabalPrimitives

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The few routes of the stand-in that a device link calls, on a real loopback port, answered by a script.
///
/// One thread a connection and one request a connection (`Connection: close`): enough to see what a link says.
final class ScriptedStandIn: Sendable {
  struct Request: Sendable, Equatable {
    var line: String
    var lastEventID: String?
    var body: String
  }

  enum Reply: Sendable {
    case json(Int, String)
    /// Sends these events and closes, as a server that dies does.
    case eventsThenClose(String)
    /// Sends these events and stays open until the link goes away.
    case eventsThenWait(String)
  }

  private let requests = Locked<[Request]>([])
  private let socket: Int32
  let port: UInt16

  var seen: [Request] { requests.withLock { $0 } }
  var url: URL? { URL(string: "http://127.0.0.1:\(port)") }

  /// - Parameter script: the reply to the n-th request (from 0) whose path is a stream, and to all others.
  init(stream: @escaping @Sendable (Int) -> Reply, other: @escaping @Sendable (Request) -> Reply) throws {
    #if canImport(Darwin)
    let listener = Darwin.socket(AF_INET, SOCK_STREAM, 0)
    #else
    let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard listening else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    socket = listener
    let requests = requests
    Thread.detachNewThread {
      var streams = 0
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        guard let request = Self.read(connection) else {
          close(connection)
          continue
        }
        requests.withLock { $0.append(request) }
        let reply: Reply
        if request.line.contains("/stream") {
          reply = stream(streams)
          streams += 1
        } else {
          reply = other(request)
        }
        Self.answer(connection, reply)
      }
    }
  }

  func stop() {
    shutdown(socket, Int32(SHUT_RDWR))
    close(socket)
  }

  private static func read(_ connection: Int32) -> Request? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let head = text[..<end.lowerBound].components(separatedBy: "\r\n")
        func field(_ name: String) -> String? {
          head.first { $0.lowercased().hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        let body = String(text[end.upperBound...])
        if body.utf8.count >= Int(field("content-length") ?? "0") ?? 0 {
          let line = head[0].split(separator: " ").prefix(2).joined(separator: " ")
          return Request(line: line, lastEventID: field("last-event-id"), body: body)
        }
      }
      let count = recv(connection, &chunk, chunk.count, 0)
      guard count > 0 else { return nil }
      bytes += chunk[..<count]
    }
  }

  private static func answer(_ connection: Int32, _ reply: Reply) {
    let text: String
    var waits = false
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    switch reply {
    case .json(let status, let body):
      text = "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    case .eventsThenClose(let events): text = head + events
    case .eventsThenWait(let events):
      text = head + events
      waits = true
    }
    let bytes = Array(text.utf8)
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    guard waits else {
      close(connection)
      return
    }
    Thread.detachNewThread {
      var byte: UInt8 = 0
      _ = recv(connection, &byte, 1, 0)
      close(connection)
    }
  }
}
