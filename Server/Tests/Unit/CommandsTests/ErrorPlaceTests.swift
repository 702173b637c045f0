import APNs
import ArgumentParsing
import Cryptography
import EventLoop
import HTTPServer
import PabalModel
import PabalPrimitives
import Storage
import TLS
import Testing

/// An error tells its maintainers where it was made, not where its type is written down.
@Suite struct ErrorPlaceTests {
  @Test func theCallersLineIsRecorded() {
    let first = #line + 2
    let made: [any CodedError] = [
      UsageError("x"),
      APNsCredentialError(code: "x", message: "x"),
      APNsRequestError(code: "x", message: "x"),
      CryptographyError(code: "x", message: "x"),
      ChannelError(.refused, "x"),
      APIError(400, .invalidRequest, "x", "x"),
      APIError.missing("x"),
      APIError.notFound("x", "x"),
      StorageError(.closed, "x"),
      TLSError(.other, "x"),
      DeviceTokenError(.empty),
    ]
    for (index, error) in made.enumerated() {
      #expect(error.place == Place(file: #fileID, line: first + index), "\(type(of: error))")
    }
  }

  /// Made deep inside, by functions that make the same error for several callers.
  @Test func aFactorysCallerIsRecordedToo() throws {
    let errors: [any CodedError] = [
      try #require(throws: JSONError.self) { try JSONSlice(parsing: Array("{".utf8)) },
      try #require(throws: CryptographyError.self) { try P256SigningKey(pem: "") },
      try #require(throws: APNsRequestError.self) { try APNsBadge(-1) },
    ]
    for error in errors {
      #expect(!error.place.file.hasSuffix("Error.swift"), "\(type(of: error)): \(error.place)")
    }
  }
}
