import Delivery
import Glibc
import PabalModel
import PabalPrimitives
import Testing

/// The exact bytes of the guide's pushes, beside the members that the contract lists. A snapshot is written by hand or
/// by running with `PABAL_WRITE_SNAPSHOTS=1` and reading the difference.
@Suite struct PayloadSnapshotTests {
  static let folder = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Snapshots/payloads/"

  static let data: [String: [String: TemplateValue]] = [
    "talent_request": [
      "requesterName": .text("민준"), "talentTitle": .text("주말 기타 레슨"), "requestId": .text("r_991"),
    ],
    "chat_message": [
      "senderName": .text("서연"), "message": .text("내일 \"두 시\" 괜찮으세요? <3 & /"), "chatRoomId": .text("room_7"),
      "senderId": .text("u_17"),
    ],
    "review": ["reviewerName": .text("지우"), "rating": .number(4)],
    "hello": [:],
  ]

  struct Variant: CustomTestStringConvertible, Sendable {
    let type: String
    let locale: String
    let hasExtension: Bool
    var name: String { "\(type).\(locale)\(hasExtension ? ".extension" : "").json" }
    var testDescription: String { name }
  }

  static let variants = ["talent_request", "chat_message", "review", "hello"].flatMap { type in
    ["ko", "en"].flatMap { locale in
      [false, true].map { Variant(type: type, locale: locale, hasExtension: $0) }
    }
  }

  static func render(_ variant: Variant, type: NotificationType?) throws -> [UInt8] {
    let content = PushContent(type: type, data: data[variant.type] ?? [:])
    return try PushRenderer().render(
      content,
      for: RenderTarget(
        identity: PushIdentity(message: MessageID(rawValue: "msg_1"), delivery: DeliveryID(rawValue: "dlv_1")),
        locale: variant.locale == "ko" ? "ko-KR" : "en_US", hasServiceExtension: variant.hasExtension)
    ).payload
  }

  @Test("payloads as they are shipped", arguments: variants)
  func shipped(_ variant: Variant) throws {
    try compare(Self.render(variant, type: ShippedTypes.all[variant.type]), with: variant.name)
  }

  @Test(
    "the same types with extras: full",
    arguments: variants.filter { $0.locale == "ko" && !$0.hasExtension && $0.type != "hello" })
  func full(_ variant: Variant) throws {
    let source = try #require(ShippedTypes.sources.first { $0.contains("\"name\": \"\(variant.type)\"") })
    let pieces = source.split(separator: "\"extras\": \"guide\"", omittingEmptySubsequences: false)
    let type = try NotificationType(parsing: pieces.joined(separator: "\"extras\": \"full\""))
    try compare(Self.render(variant, type: type), with: "\(variant.type).full.json")
  }

  private func compare(_ payload: [UInt8], with name: String) throws {
    let path = Self.folder + name
    if getenv("PABAL_WRITE_SNAPSHOTS") != nil { try write(payload, to: path) }
    #expect(String(decoding: payload, as: UTF8.self) == String(decoding: try read(path), as: UTF8.self))
  }

  private func read(_ path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "r"), "no snapshot at \(path)")
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes[..<count])
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let file = try #require(fopen(path, "w"))
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }
}
