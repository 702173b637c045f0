import Foundation
import PabalKit
import PabalPrimitives
import PabalSimUIKit
import PabalSimUserNotifications
import PabalSimulation
import TalentMarket

/// A phone with Talent Market on it, and what the market's own backend heard from that app.
struct StoryPhone: Sendable {
  let phone: SimulatedPhone
  private let heardByBackend: Locked<[String]>

  /// - Parameter events: refuses the app's reports when `.eventsRefused`.
  init(links: PabalLinks, sabotage: Sabotage?) throws {
    let heard = Locked<[String]>([])
    heardByBackend = heard
    let keychain = SimulatedKeychain()
    let control = try unwrap(URL(string: links.control), "no address: \(links.control)")
    let server = try unwrap(URL(string: links.server), "no address: \(links.server)")
    let http = sabotage == .eventsRefused ? HTTPClient.urlSession().withRevokedKeyForEvents() : .urlSession()
    let backend = TalentMarketBackend(
      accept: { id, _ in heard.withLock { $0.append("accept \(id)") } },
      decline: { id, _ in heard.withLock { $0.append("decline \(id)") } },
      reply: { room, text, _ in heard.withLock { $0.append("reply \(room) \(text)") } })
    let environment: @Sendable (SimulatedPhone) -> PabalEnvironment = { phone in
      .simulated(on: phone, keychain: keychain, hasServiceExtension: true, http: http)
    }
    let key = links.publishableKey
    let makeExtension: @Sendable () -> UNNotificationServiceExtension = { TalentMarketNotificationService() }
    phone = SimulatedPhone(
      app: InstalledApp(
        bundleID: links.topic,
        makeDelegate: { Self.makeApp(server: server, key: key, backend: backend, environment) },
        makeExtension: sabotage == .extensionAbsent ? nil : makeExtension),
      link: .live(control: control, environment: "sandbox"),
      files: FileManager.default.temporaryDirectory.appendingPathComponent("talent-market-phone-\(UUID().uuidString)"))
  }

  @MainActor private static func makeApp(
    server: URL, key: String, backend: TalentMarketBackend, _ environment: (SimulatedPhone) -> PabalEnvironment
  ) -> TalentMarketAppDelegate {
    guard let phone = SimulatedPhone.current else { preconditionFailure("a phone starts apps, nobody else") }
    let settings = TalentMarketSettings(
      server: server, publishableKey: key, apnsEnvironment: .sandbox, environment: environment(phone))
    return TalentMarketSettings.$current.withValue(settings) {
      TalentMarketBackend.$current.withValue(backend) {
        let delegate = TalentMarketAppDelegate()
        _ = delegate.client  // Made here, where the settings are.
        return delegate
      }
    }
  }

  var heard: [String] { heardByBackend.withLock { $0 } }

  /// The running app.
  func app() async throws -> TalentMarketAppDelegate {
    let delegate = try await phone.asApp { UIApplication.shared.delegate as? TalentMarketAppDelegate }
    return try unwrap(delegate, "the running app is not Talent Market")
  }

  /// The token that the phone's records say it gave to the app; lower-case hex.
  var token: String? {
    for case .registered(let token) in phone.events { return token }
    return nil
  }

  /// Receipts that wait in the app group for the app.
  var receiptCount: Int {
    let group = phone.files.appendingPathComponent("groups/\(TalentMarketSettings.appGroup)")
    let files = FileManager.default.enumerator(atPath: group.path)?.allObjects as? [String] ?? []
    return files.count { name in
      var isFolder: ObjCBool = false
      let path = group.appendingPathComponent(name).path
      return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }
  }

  func removeFiles() {
    removeTemporary(phone.files)
  }
}

extension HTTPClient {
  fileprivate func withRevokedKeyForEvents() -> HTTPClient {
    var client = self
    client.send = { [send] call in
      var call = call
      if call.url.path == "/v1/events" { call.headers["Authorization"] = "Bearer pp_test_revoked" }
      return try await send(call)
    }
    return client
  }
}
