import PabalPrimitives

/// A text in one language or in several.
package enum LocalizedText: Sendable, Hashable {
  case plain(String)
  /// In the order given; the first is the default.
  case byLocale([Entry])

  package struct Entry: Sendable, Hashable {
    package let locale: String
    package let text: String

    package init(locale: String, text: String) {
      self.locale = locale
      self.text = text
    }
  }
}

/// What a caller writes beside a type, or instead of one. Its texts are taken as they are, braces included.
package struct ContentOverride: Sendable, Hashable {
  package var title: LocalizedText?
  package var body: LocalizedText?
  /// Root key `image`; the service extension downloads it.
  package var image: String?
  /// Root key `link`; opened on tap.
  package var link: String?

  package init(title: LocalizedText? = nil, body: LocalizedText? = nil, image: String? = nil, link: String? = nil) {
    self.title = title
    self.body = body
    self.image = image
    self.link = link
  }
}

/// How a message is sent and shown, where the caller says so; nil leaves it to the type.
package struct PushOptions: Sendable {
  /// A choice that may also be "none": an absent option is the type's, `null` is nothing at all.
  package enum Choice<Value: Sendable>: Sendable {
    case byType
    case none
    case value(Value)
  }

  package var timeToLive: Duration?
  package var collapseKey: String?
  package var threadID: String?
  package var interruptionLevel: InterruptionLevel?
  package var priority: PushPriority?
  package var sound = Choice<String>.byType
  package var badge = Choice<Int>.byType
  /// The category of the actions under the notification.
  package var actionCategory: String?

  package init() {}
}

/// Everything that one message says, before it is known to whom.
package struct PushContent: Sendable, Unprintable {
  package let type: NotificationType?
  package let data: [String: TemplateValue]
  package let content: ContentOverride
  package let options: PushOptions

  package init(
    type: NotificationType?, data: [String: TemplateValue] = [:], content: ContentOverride = ContentOverride(),
    options: PushOptions = PushOptions()
  ) {
    self.type = type
    self.data = data
    self.content = content
    self.options = options
  }

  package var priority: PushPriority { options.priority ?? type?.priority ?? .high }
  package var timeToLive: Duration { options.timeToLive ?? type?.timeToLive ?? .seconds(86_400) }
  package var collapseKey: String? { options.collapseKey }

  /// The business key under which a repeat of the same event is the same message.
  package var dedupeKey: String? { type?.dedupeKey?.rendered(data) }
}
