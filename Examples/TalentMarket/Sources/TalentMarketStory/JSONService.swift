import Foundation
package import PabalPrimitives

#if os(Linux)
import FoundationNetworking
#endif

/// Somebody who speaks JSON over HTTP: the market's backend towards Pabal, or the story towards the stand-in's records.
package struct JSONService: Sendable {
  let root: String
  /// Sent as `Authorization: Bearer`; nil sends none.
  let key: String?

  private static let seconds = 12.0

  package func get(_ path: String) async throws -> JSONSlice {
    try await call("GET", path, nil, expected: 200)
  }

  /// Throws `Unmet` when the answer is another status or no JSON.
  package func call(_ method: String, _ path: String, _ body: JSONValue?, expected: Int) async throws -> JSONSlice {
    let (status, bytes) = try await bytes(method, path, body)
    let text = String(decoding: bytes.prefix(400), as: UTF8.self)
    try expect(status == expected, "\(method) \(path) answered \(status) instead of \(expected): \(text)")
    return try JSONSlice(parsing: bytes)
  }

  func bytes(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> (status: Int, bytes: [UInt8]) {
    let url = try unwrap(URL(string: root + path), "not an address: \(root + path)")
    var request = URLRequest(url: url, timeoutInterval: Self.seconds)
    request.httpMethod = method
    if let key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
    if let body {
      request.httpBody = Data(body.encoded)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, Array(data))
  }
}
