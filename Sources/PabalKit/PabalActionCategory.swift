/// The buttons under a notification whose payload names this category.
///
/// Not to be confused with `client.preferences`, the switches by which a user turns kinds of notifications off.
public struct PabalActionCategory: Sendable, Hashable {
  public let id: String
  public let actions: [PabalAction]
  /// Whether the app is told when the user clears the notification; it then reports `dismissed`.
  public let reportsDismissal: Bool

  public init(_ id: String, reportsDismissal: Bool = true, @PabalActionBuilder actions: () -> [PabalAction]) {
    self.id = id
    self.reportsDismissal = reportsDismissal
    self.actions = actions()
  }
}

/// One button.
public struct PabalAction: Sendable, Hashable {
  public struct Options: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// Only on an unlocked phone.
    public static let authenticationRequired = Options(rawValue: 1)
    /// Shown in red.
    public static let destructive = Options(rawValue: 2)
    /// Brings the app to the front.
    public static let foreground = Options(rawValue: 4)
  }

  struct TextInput: Sendable, Hashable {
    let button: String
    let placeholder: String
  }

  public let id: String
  public let title: String
  public let options: Options
  let textInput: TextInput?

  /// A button of the app's own kind.
  public static func button(_ id: String, title: String, options: Options = []) -> PabalAction {
    PabalAction(id: id, title: title, options: options, textInput: nil)
  }

  /// Says yes and opens the app.
  public static func accept(_ id: String, title: String) -> PabalAction {
    button(id, title: title, options: .foreground)
  }

  /// Says no, in red, without opening the app.
  public static func decline(_ id: String, title: String) -> PabalAction {
    button(id, title: title, options: .destructive)
  }

  /// Answers with a text, without opening the app.
  ///
  /// - Parameter button: the title of the button that sends; `title` when not given.
  public static func reply(
    _ id: String, title: String, placeholder: String, button: String? = nil, options: Options = []
  ) -> PabalAction {
    PabalAction(
      id: id, title: title, options: options,
      textInput: TextInput(button: button ?? title, placeholder: placeholder))
  }
}

@resultBuilder public enum PabalActionBuilder {
  public static func buildExpression(_ action: PabalAction) -> [PabalAction] { [action] }
  public static func buildBlock(_ parts: [PabalAction]...) -> [PabalAction] { parts.flatMap { $0 } }
  public static func buildOptional(_ part: [PabalAction]?) -> [PabalAction] { part ?? [] }
  public static func buildEither(first part: [PabalAction]) -> [PabalAction] { part }
  public static func buildEither(second part: [PabalAction]) -> [PabalAction] { part }
}
