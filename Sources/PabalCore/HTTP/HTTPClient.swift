public import Foundation
public import PabalPrimitives

/// A call to a server.
public struct HTTPCall: Sendable {
  public var method: String
  public var url: URL
  /// Names in any case; each at most once.
  public var headers: [String: String]
  public var body: [UInt8]?

  public init(method: String, url: URL, headers: [String: String] = [:], body: [UInt8]? = nil) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// What a server said, whatever the status.
public struct HTTPAnswer: Sendable {
  public var status: Int
  /// Names in lower case.
  public var headers: [String: String]
  public var body: [UInt8]

  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// A file to fetch, and how far to go for it.
public struct HTTPDownload: Sendable {
  public var url: URL
  /// Largest size in bytes for a MIME type (`nil`: the server named none); asked again while bytes arrive.
  public var maximumBytes: @Sendable (_ mimeType: String?) -> Int
  public var maximumRedirects: Int
  /// Asked for the first address and for each redirect.
  public var allows: @Sendable (URL) -> Bool
  /// Where the file is put; it must not exist.
  public var destination: URL

  public init(
    url: URL, destination: URL, maximumRedirects: Int, maximumBytes: @escaping @Sendable (String?) -> Int,
    allows: @escaping @Sendable (URL) -> Bool
  ) {
    self.url = url
    self.destination = destination
    self.maximumRedirects = maximumRedirects
    self.maximumBytes = maximumBytes
    self.allows = allows
  }
}

/// A fetched file, at the destination that was asked for.
public struct HTTPFile: Sendable {
  public var status: Int
  public var mimeType: String?
  public var bytes: Int

  public init(status: Int, mimeType: String?, bytes: Int) {
    self.status = status
    self.mimeType = mimeType
    self.bytes = bytes
  }
}

/// The network as the SDK sees it: two closures, so that a test or a simulated phone can stand in for it.
///
/// A call without an answer throws `HTTPFailure` and is never repeated here: only the SDK's own queues repeat, and all
/// of their calls are idempotent (install id and epoch, or event ids).
public struct HTTPClient: Sendable {
  public var send: @Sendable (HTTPCall) async throws -> HTTPAnswer
  public var download: @Sendable (HTTPDownload) async throws -> HTTPFile

  public init(
    send: @escaping @Sendable (HTTPCall) async throws -> HTTPAnswer,
    download: @escaping @Sendable (HTTPDownload) async throws -> HTTPFile
  ) {
    self.send = send
    self.download = download
  }
}

/// Why there is no answer.
public struct HTTPFailure: CodedError {
  public enum Kind: String, Sendable {
    case unreachable, timedOut, canceled, addressRefused, tooManyRedirects, tooLarge, fileFailed
  }

  public let kind: Kind
  /// The system's number (`NSURLError…`), 0 when it was our own decision.
  public let number: Int
  public let place: Place

  public init(_ kind: Kind, number: Int = 0, file: String = #fileID, line: Int = #line) {
    self.kind = kind
    self.number = number
    self.place = Place(file: file, line: line)
  }

  public var code: String { "http_\(kind.rawValue)" }

  public var message: String {
    switch kind {
    case .unreachable: "The server could not be reached (\(number)). The call is repeated later by itself."
    case .timedOut: "The server did not answer in time. The call is repeated later by itself."
    case .canceled: "The call was canceled."
    case .addressRefused: "Only https addresses are fetched (http for loopback only). Correct the URL in the payload."
    case .tooManyRedirects: "The server redirects too often. Put the final address into the payload."
    case .tooLarge: "The file is larger than the system attaches. Send a smaller one."
    case .fileFailed: "The file could not be stored on the device (\(number)). Check free space."
    }
  }
}
