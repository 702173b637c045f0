public import PabalKit

#if os(iOS)
public import UIKit
#else
public import PabalSimUIKit
#endif

/// The app: what it needs of Pabal, and what it does with what comes back.
public final class TalentMarketAppDelegate: PabalAppDelegate {
  private let backend = TalentMarketBackend.current
  /// Where the user is now.
  public private(set) var screen = TalentMarketScreen.home
  /// Where notifications led, in order.
  public private(set) var routes: [TalentMarketScreen] = []

  public override class func makeClient() -> PabalClient {
    let settings = TalentMarketSettings.current ?? .fromBundle()
    return PabalClient(
      PabalClient.Configuration(
        server: settings.server, key: settings.publishableKey, appGroup: TalentMarketSettings.appGroup,
        actionCategories: TalentMarketNotifications.categories,
        presentation: TalentMarketNotifications.presentation, apnsEnvironment: settings.apnsEnvironment,
        environment: settings.environment))
  }

  public override func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    _ = super.application(application, didFinishLaunchingWithOptions: launchOptions)
    client.onInteraction { [backend] interaction in await Self.handle(interaction, backend) }
    client.routes(ready: true) { [weak self] link in
      guard let self, let screen = TalentMarketScreen(link) else { return }
      routes.append(screen)
      show(screen)
    }
    return true
  }

  /// The user, or a notification, goes to another screen.
  public func show(_ next: TalentMarketScreen) {
    client.screens.leave(screen.pabalScreen)
    screen = next
    client.screens.enter(screen.pabalScreen)
  }

  private static func handle(_ interaction: PabalInteraction, _ backend: TalentMarketBackend) async {
    let link = interaction.notification.link
    switch interaction.kind {
    case .action("ACCEPT_TALENT_REQUEST"):
      if let id = link["requestId"] { await backend.accept(id, interaction.id) }
    case .action("DECLINE_TALENT_REQUEST"):
      if let id = link["requestId"] { await backend.decline(id, interaction.id) }
    case .reply("REPLY_MESSAGE", let text):
      if let room = link["chatRoomId"] { await backend.reply(room, text, interaction.id) }
    case .open, .dismiss, .action, .reply:
      break  // Pabal reports them; a tap's screen comes by `routes`.
    }
  }
}
