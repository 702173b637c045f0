public import Foundation
public import PabalKit

/// What differs between builds of the app: where its Pabal server is.
public struct TalentMarketSettings: Sendable {
  public var server: URL
  public var publishableKey: String
  public var apnsEnvironment: PushEnvironment
  public var environment: PabalEnvironment

  public static let appGroup = "group.com.example.talentmarket"

  /// Set around the launch of the app by whoever runs it somewhere else than on a device.
  @TaskLocal public static var current: TalentMarketSettings?

  public init(
    server: URL, publishableKey: String, apnsEnvironment: PushEnvironment, environment: PabalEnvironment
  ) {
    self.server = server
    self.publishableKey = publishableKey
    self.apnsEnvironment = apnsEnvironment
    self.environment = environment
  }

  /// The settings that the build put into Info.plist as `PabalServer` and `PabalKey`.
  static func fromBundle() -> TalentMarketSettings {
    guard let text = Bundle.main.object(forInfoDictionaryKey: "PabalServer") as? String, let server = URL(string: text),
      let key = Bundle.main.object(forInfoDictionaryKey: "PabalKey") as? String
    else { preconditionFailure("Put PabalServer and PabalKey into the app's Info.plist.") }
    return TalentMarketSettings(
      server: server, publishableKey: key, apnsEnvironment: .sandbox, environment: .live())
  }
}
