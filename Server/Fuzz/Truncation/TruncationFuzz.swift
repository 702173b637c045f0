import APNs
import PabalPrimitives

/// A text of a user that is cut to fit. Apart from `PayloadFuzz`: to look at each character of eight kilobytes takes a
/// hundred times as long as to read a payload.
enum TruncationFuzz {
  static func run(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    guard !text.isEmpty else { return }
    let limit = APNsPushType.alert.maximumPayloadBytes
    let long = String(repeating: text, count: 1 + 2 * limit / text.utf8.count)
    let content = APNsContent(body: .literal(long))
    guard let (payload, truncation) = try? content.fittingPayload() else { return }
    try demand(payload.bytes.count <= limit, "what was cut fits")
    let body = try APNsPayload.parse(payload.bytes)["aps"]?["alert"]?["body"]?.string
    guard truncation != nil, let body else { return try demand(body == long, "what fits is not cut") }
    let kept = String(body.unicodeScalars.dropLast())
    try demand(long.unicodeScalars.starts(with: kept.unicodeScalars), "what was cut is a beginning of the text")
    try demand(long.count == 0 || isBoundary(kept.unicodeScalars.count, of: long), "a character is never cut in two")
  }

  private static func isBoundary(_ scalars: Int, of text: String) -> Bool {
    let end = text.unicodeScalars.index(text.unicodeScalars.startIndex, offsetBy: scalars)
    return end == text.endIndex || text.indices.contains(end)
  }
}
