internal import Foundation
internal import PabalCore
internal import PabalPrimitives

/// A downloaded file that the system will attach.
struct Media: Sendable {
  let file: URL
  let type: MediaType
}

/// Fetches the picture that a payload names. What fails here fails only here: the text is shown in any case.
struct MediaDownload: Sendable {
  let http: HTTPClient
  let randomness: Randomness
  /// Where the file is put; the system moves it away from there.
  let folder: URL

  /// Throws `HTTPFailure`, or what the file system says.
  func fetch(_ url: URL) async throws -> Media {
    let raw = folder.appendingPathComponent("pabal-" + Hex.encode(randomness.fill(8)))
    var download = HTTPDownload(
      url: url, destination: raw, maximumRedirects: MediaLimits.redirects,
      maximumBytes: { MediaType.maximumBytes(mimeType: $0) }, allows: { Self.allows($0) })
    if url.scheme?.lowercased() == "https" {
      // From the safe road there is no way back, not even to this device.
      download.allows = { $0.scheme?.lowercased() == "https" }
    }
    let answer = try await http.download(download)
    do {
      guard answer.status == 200 else { throw HTTPFailure(.unreachable, number: answer.status) }
      let file = try FileHandle(forReadingFrom: raw)
      let head = try file.read(upToCount: MediaType.headBytes) ?? Data()
      try file.close()
      guard
        let type = MediaType.of(head: Array(head), mimeType: answer.mimeType, pathExtension: url.pathExtension),
        answer.bytes <= type.maximumBytes
      else { throw HTTPFailure(.tooLarge) }
      let named = raw.appendingPathExtension(type.fileExtension)
      try FileManager().moveItem(at: raw, to: named)
      return Media(file: named, type: type)
    } catch {
      try FileManager().removeItem(at: raw)
      throw error
    }
  }

  /// https; http to this device only, for development.
  static func allows(_ url: URL) -> Bool {
    switch url.scheme?.lowercased() {
    case "https": return url.host != nil
    case "http": return ["127.0.0.1", "::1", "[::1]", "localhost"].contains(url.host ?? "")
    default: return false
    }
  }
}
