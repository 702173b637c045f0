/// Small files for notification attachments, made in code; the bytes never change.
package enum StandInMedia: String, CaseIterable, Sendable {
  /// A good PNG of 64 × 64 pixels.
  case samplePNG = "sample.png"
  /// A good MP4 header without frames.
  case sampleMP4 = "sample.mp4"
  /// A JPEG under the name and content type of a PNG.
  case lyingPNG = "lying.png"
  /// The first half of `sample.png`.
  case truncatedPNG = "truncated.png"

  package var contentType: String {
    self == .sampleMP4 ? "video/mp4" : "image/png"
  }

  package var bytes: [UInt8] {
    switch self {
    case .samplePNG: Self.png
    case .sampleMP4: SampleMP4.bytes
    case .lyingPNG: SampleJPEG.bytes
    case .truncatedPNG: Array(Self.png.prefix(Self.png.count / 2))
    }
  }

  private static let png = SamplePNG.bytes(side: 64)
}
