/// What the system attaches, and how large it may be (Apple: UNNotificationAttachment, "Supported File Types").
struct MediaType: Sendable, Equatable {
  /// A uniform type identifier, for the attachment's type hint.
  let identifier: String
  let fileExtension: String
  let maximumBytes: Int

  static let jpeg = MediaType(identifier: "public.jpeg", fileExtension: "jpg", maximumBytes: MediaLimits.image)
  static let png = MediaType(identifier: "public.png", fileExtension: "png", maximumBytes: MediaLimits.image)
  static let gif = MediaType(identifier: "com.compuserve.gif", fileExtension: "gif", maximumBytes: MediaLimits.image)
  static let mp4 = MediaType(identifier: "public.mpeg-4", fileExtension: "mp4", maximumBytes: MediaLimits.movie)
  static let mp3 = MediaType(identifier: "public.mp3", fileExtension: "mp3", maximumBytes: MediaLimits.audio)
  static let m4a = MediaType(
    identifier: "public.mpeg-4-audio", fileExtension: "m4a", maximumBytes: MediaLimits.audio)
  static let wav = MediaType(
    identifier: "com.microsoft.waveform-audio", fileExtension: "wav", maximumBytes: MediaLimits.audio)
  static let aiff = MediaType(
    identifier: "public.aiff-audio", fileExtension: "aiff", maximumBytes: MediaLimits.audio)
  static let avi = MediaType(identifier: "public.avi", fileExtension: "avi", maximumBytes: MediaLimits.movie)
  static let mpeg = MediaType(identifier: "public.mpeg", fileExtension: "mpg", maximumBytes: MediaLimits.movie)

  private static let byMIMEType: [String: MediaType] = [
    "image/jpeg": .jpeg, "image/jpg": .jpeg, "image/png": .png, "image/gif": .gif, "video/mp4": .mp4,
    "audio/mpeg": .mp3, "audio/mp3": .mp3, "audio/mp4": .m4a, "audio/x-m4a": .m4a, "audio/wav": .wav,
    "audio/x-wav": .wav, "audio/aiff": .aiff, "audio/x-aiff": .aiff, "video/avi": .avi, "video/x-msvideo": .avi,
    "video/mpeg": .mpeg,
  ]

  private static let byExtension: [String: MediaType] = [
    "jpg": .jpeg, "jpeg": .jpeg, "png": .png, "gif": .gif, "mp4": .mp4, "m4v": .mp4, "mp3": .mp3, "m4a": .m4a,
    "wav": .wav, "aif": .aiff, "aiff": .aiff, "avi": .avi, "mpg": .mpeg, "mpeg": .mpeg,
  ]

  /// How much of a file `ofContent` looks at.
  static let headBytes = 12

  /// The content decides; where it tells nothing, the MIME type; where that is none of ours, the address.
  ///
  /// Pictures always tell: what is called a picture and does not begin like one is none.
  static func of(head: [UInt8], mimeType: String?, pathExtension: String) -> MediaType? {
    if let found = ofContent(head) { return found }
    if let mimeType, mimeType.hasPrefix("image/") || mimeType.hasPrefix("text/") { return nil }
    let named = mimeType.flatMap { byMIMEType[$0] } ?? byExtension[pathExtension.lowercased()]
    guard let named, named.maximumBytes != MediaLimits.image else { return nil }
    return named
  }

  /// The first bytes, as their formats define them.
  private static func ofContent(_ head: [UInt8]) -> MediaType? {
    if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
    if head.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
    if head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)) { return .gif }
    if head.starts(with: Array("ID3".utf8)) { return .mp3 }
    if head.starts(with: [0x00, 0x00, 0x01, 0xBA]) || head.starts(with: [0x00, 0x00, 0x01, 0xB3]) { return .mpeg }
    guard head.count >= headBytes else { return nil }
    let kind = Array(head[8..<12])
    if head.starts(with: Array("RIFF".utf8)) {
      if kind == Array("WAVE".utf8) { return .wav }
      if kind == Array("AVI ".utf8) { return .avi }
    }
    if head.starts(with: Array("FORM".utf8)), kind.starts(with: Array("AIF".utf8)) { return .aiff }
    if head[4..<8].elementsEqual("ftyp".utf8) { return kind.starts(with: Array("M4A".utf8)) ? .m4a : .mp4 }
    return nil
  }

  /// How much may arrive of an answer with this MIME type; the content has the last word.
  static func maximumBytes(mimeType: String?) -> Int {
    guard let mimeType else { return MediaLimits.movie }
    if let known = byMIMEType[mimeType] { return known.maximumBytes }
    return mimeType.hasPrefix("image/") ? MediaLimits.image : mimeType.hasPrefix("text/") ? 0 : MediaLimits.movie
  }
}

enum MediaLimits {
  static let image = 10 * 1_048_576
  static let audio = 5 * 1_048_576
  static let movie = 50 * 1_048_576
  static let redirects = 5
}
