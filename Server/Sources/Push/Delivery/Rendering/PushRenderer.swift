package import PabalModel
import PabalPrimitives

/// Where a rendered push goes.
package struct RenderTarget: Sendable {
  package let identity: PushIdentity
  /// The device's locale as it spells it; nil takes the default.
  package let locale: String?
  /// The app has a notification service extension, which runs only for `mutable-content`.
  package let hasServiceExtension: Bool

  package init(identity: PushIdentity, locale: String?, hasServiceExtension: Bool) {
    self.identity = identity
    self.locale = locale
    self.hasServiceExtension = hasServiceExtension
  }
}

/// A payload as it will be written.
package struct RenderedPush: Sendable, Equatable, Unprintable {
  package let payload: [UInt8]
  /// The locale whose text was taken; nil for a text without one.
  package let locale: String?
  /// The body was cut to fit Apple's limit.
  package let isCut: Bool
}

/// Why a push could not be rendered.
package enum RenderFailure: Error, Sendable, Equatable {
  case variableMissing(String)
  /// Bytes that it would have without its body.
  case tooLarge(Int)

  package var reason: ReasonCode {
    switch self {
    case .variableMissing: .variableMissing
    case .tooLarge: .payloadTooLarge
    }
  }
}

/// Turns what a message says into the bytes for one device. Pure.
package struct PushRenderer: Sendable {
  package init() {}

  /// The push for one device: its words in the device's language, its links and ids, its headers.
  package func render(_ message: PushContent, for target: RenderTarget) throws(RenderFailure) -> RenderedPush {
    let words = try words(message, locale: target.locale)
    let presentation = message.type?.presentation
    let isFull = presentation?.extras != .guide
    var writer = PayloadWriter(title: words.title, identity: target.identity)
    writer.badge = Self.chosen(message.options.badge, presentation?.badge)
    writer.sound = Self.chosen(message.options.sound, presentation.map(\.sound) ?? "default")
    writer.category = message.options.actionCategory ?? presentation?.actionCategory
    writer.threadID =
      message.options.threadID ?? (isFull ? presentation?.threadID?.rendered(message.data) : nil)
    writer.interruptionLevel =
      message.options.interruptionLevel ?? (isFull ? presentation?.interruptionLevel : nil)
    writer.isMutable = target.hasServiceExtension || message.content.image != nil
    for member in presentation?.payload ?? [] {
      // A value that may be missing leaves its member out.
      if let text = member.value.rendered(message.data) { writer.own.append((member.name, text)) }
    }
    writer.link =
      message.content.link
      ?? (isFull ? presentation?.link?.rendered(message.data, escape: Self.percentEncoded) : nil)
    writer.image = message.content.image
    return try fit(words, into: writer)
  }

  private func fit(_ words: Words, into writer: PayloadWriter) throws(RenderFailure) -> RenderedPush {
    let whole = writer.payload(body: words.body)
    if whole.count <= NotificationLimits.payloadBytes {
      return RenderedPush(payload: whole, locale: words.locale, isCut: false)
    }
    let frame = writer.payload(body: words.body == nil ? nil : "").count
    guard let body = words.body, frame <= NotificationLimits.payloadBytes else { throw .tooLarge(frame) }
    let cut = BodyCut.fit(body, into: NotificationLimits.payloadBytes - frame)
    return RenderedPush(payload: writer.payload(body: cut), locale: words.locale, isCut: true)
  }

  private struct Words {
    var title: String?
    var body: String?
    var locale: String?
  }

  private func words(_ message: PushContent, locale: String?) throws(RenderFailure) -> Words {
    var words = Words()
    if let type = message.type {
      let choice = LocaleChoice.choose(
        from: type.texts.map(\.locale), preferring: [locale], fallback: type.defaultLocale)
      words.locale = choice
      if let text = type.texts.first(where: { $0.locale == choice }) {
        words.title = try Self.rendered(text.title, message.data)
        words.body = try Self.rendered(text.body, message.data)
      }
    }
    if let title = message.content.title {
      (words.title, words.locale) = Self.localized(title, locale, words.locale)
    }
    if let body = message.content.body {
      (words.body, words.locale) = Self.localized(body, locale, words.locale)
    }
    return words
  }

  private static func rendered(
    _ template: Template, _ data: [String: TemplateValue]
  ) throws(RenderFailure) -> String {
    if let text = template.rendered(data) { return text }
    throw .variableMissing(template.requiredNames.first { data[$0] == nil } ?? "")
  }

  private static func localized(_ text: LocalizedText, _ locale: String?, _ otherwise: String?) -> (String?, String?) {
    switch text {
    case .plain(let text): return (text, otherwise)
    case .byLocale(let entries):
      let choice = LocaleChoice.choose(
        from: entries.map(\.locale), preferring: [locale], fallback: entries.first?.locale ?? "")
      return (entries.first { $0.locale == choice }?.text, choice)
    }
  }

  private static func chosen<Value>(_ choice: PushOptions.Choice<Value>, _ byType: Value?) -> Value? {
    switch choice {
    case .byType: byType
    case .none: nil
    case .value(let value): value
    }
  }

  /// RFC 3986 section 2.3: a value cannot change the shape of the link that it stands in.
  private static func percentEncoded(_ value: String) -> String {
    var text: [UInt8] = []
    for byte in value.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        text.append(byte)
      default:
        text.append(UInt8(ascii: "%"))
        text += Hex.encode([byte]).uppercased().utf8
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
