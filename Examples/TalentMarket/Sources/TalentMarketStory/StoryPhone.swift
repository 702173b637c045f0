import Foundation
import PabalKit
import PabalPrimitives
import PabalSimUIKit
import PabalSimUserNotifications
package import PabalSimulation
package import TalentMarket

/// A phone with Talent Market on it, and what the market's own backend heard from that app.
package struct StoryPhone: Sendable {
  package let phone: SimulatedPhone
  private let heardByBackend: Locked<[String]>
  private let target: Locked<Target>

  private struct Target {
    var server: URL
    var key: String
  }

  /// - Parameter events: refuses the app's reports when `.eventsRefused`.
  package init(links: PabalLinks, sabotage: Sabotage? = nil) throws {
    let heard = Locked<[String]>([])
    heardByBackend = heard
    let keychain = SimulatedKeychain()
    let control = try unwrap(URL(string: links.control), "no address: \(links.control)")
    let target = Locked(try Self.target(links))
    self.target = target
    let http = sabotage == .eventsRefused ? HTTPClient.urlSession().withRevokedKeyForEvents() : .urlSession()
    let backend = TalentMarketBackend(
      accept: { id, _ in heard.withLock { $0.append("accept \(id)") } },
      decline: { id, _ in heard.withLock { $0.append("decline \(id)") } },
      reply: { room, text, _ in heard.withLock { $0.append("reply \(room) \(text)") } })
    let environment: @Sendable (SimulatedPhone) -> PabalEnvironment = { phone in
      .simulated(on: phone, keychain: keychain, hasServiceExtension: true, http: http)
    }
    let makeExtension: @Sendable () -> UNNotificationServiceExtension = { TalentMarketNotificationService() }
    phone = SimulatedPhone(
      app: InstalledApp(
        bundleID: links.topic,
        makeDelegate: { Self.makeApp(target.withLock { $0 }, backend: backend, environment) },
        makeExtension: sabotage == .extensionAbsent ? nil : makeExtension),
      link: .live(control: control, environment: "sandbox"),
      files: FileManager.default.temporaryDirectory.appendingPathComponent("talent-market-phone-\(UUID().uuidString)"))
  }

  @MainActor private static func makeApp(
    _ target: Target, backend: TalentMarketBackend, _ environment: (SimulatedPhone) -> PabalEnvironment
  ) -> TalentMarketAppDelegate {
    guard let phone = SimulatedPhone.current else { preconditionFailure("a phone starts apps, nobody else") }
    let settings = TalentMarketSettings(
      server: target.server, publishableKey: target.key, apnsEnvironment: .sandbox, environment: environment(phone))
    return TalentMarketSettings.$current.withValue(settings) {
      TalentMarketBackend.$current.withValue(backend) {
        let delegate = TalentMarketAppDelegate()
        _ = delegate.client  // Made here, where the settings are.
        return delegate
      }
    }
  }

  private static func target(_ links: PabalLinks) throws -> Target {
    Target(
      server: try unwrap(URL(string: links.server), "no address: \(links.server)"), key: links.publishableKey)
  }

  /// From its next launch on, the app talks to another server.
  package func moveApp(to links: PabalLinks) throws {
    let moved = try Self.target(links)
    target.withLock { $0 = moved }
  }

  package var heard: [String] { heardByBackend.withLock { $0 } }

  /// The running app.
  package func app() async throws -> TalentMarketAppDelegate {
    let delegate = try await phone.asApp { UIApplication.shared.delegate as? TalentMarketAppDelegate }
    return try unwrap(delegate, "the running app is not Talent Market")
  }

  /// The token that the phone's records say it gave to the app; lower-case hex.
  package var token: String? {
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

  package func removeFiles() {
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
