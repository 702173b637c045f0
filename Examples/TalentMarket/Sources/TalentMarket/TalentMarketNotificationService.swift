public import PabalNotificationService

#if !os(iOS)
public import PabalKit
import PabalSimulation
#endif

/// The app's service extension: everything it does is Pabal's.
public nonisolated final class TalentMarketNotificationService: PabalServiceExtension {
  public override class func appGroup() -> String? { TalentMarketSettings.appGroup }

  #if !os(iOS)
  public override class func environment() -> PabalEnvironment {
    guard let phone = SimulatedPhone.current else { preconditionFailure("a phone starts extensions, nobody else") }
    return .simulated(on: phone, keychain: SimulatedKeychain(), hasServiceExtension: true)
  }
  #endif
}
