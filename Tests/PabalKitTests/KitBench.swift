import Foundation
import PabalCore
import PabalKit
import PabalPrimitives
import PabalSimUIKit
import PabalSimUserNotifications
import PabalSimulation
import Testing

/// An app made with PabalKit on a simulated phone, with a scripted server.
@MainActor final class KitBench {
  let server = ScriptedServer()
  let apns = LoopbackAPNs(topic: "kr.talentmarket.app")
  let phone: SimulatedPhone
  let app = AppProbe()
  private let keychain = Locked<[String: [UInt8]]>([:])
  private let keychainLocked = Locked(false)
  private var processFiles = ProcessFiles()

  init(presentation: PabalPresentationPolicy = .standard) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kit-" + UUID().uuidString)
    let probe = app
    phone = SimulatedPhone(
      app: InstalledApp(
        bundleID: "kr.talentmarket.app", makeDelegate: { ProbeAppDelegate(probe: probe) }, makeExtension: nil),
      link: apns.link, files: folder)
    app.makeClient = { [unowned self] in makeClient(presentation) }
  }

  /// Runs `story` with the phone switched on; afterwards the app must have done nothing wrong, and is gone with its
  /// files. Its tasks may last longer: a handler may never return.
  func run(
    _ story: @escaping @MainActor @Sendable (SimulatedPhone) async throws -> Void,
    afterwards check: ([PhoneDefect]) -> Void = { #expect($0.isEmpty) }
  ) async throws {
    phone.planPermissionAnswer(allow: true)
    let phone = phone
    let body: @Sendable () async throws -> [PhoneDefect] = {
      try await story(phone)
      try await phone.settle()
      return phone.defects
    }
    let defects: Result<[PhoneDefect], any Error>
    do {
      defects = .success(try await phone.run(body))
    } catch {
      defects = .failure(error)
    }
    app.client = nil
    // A test's closure may hold this bench.
    app.atLaunch = { _ in }
    processFiles.end()
    if FileManager.default.fileExists(atPath: phone.files.path) {
      try FileManager.default.removeItem(at: phone.files)
    }
    check(try defects.get())
  }

  func lockKeychain(_ isLocked: Bool) {
    keychainLocked.withLock { $0 = isLocked }
  }

  var storedKeychain: [String: [UInt8]] { keychain.withLock { $0 } }

  /// A push as the server sends it.
  @discardableResult
  func push(_ number: Int, _ root: String = "", category: String = "TALENT_REQUEST", collapseID: String? = nil)
    -> String
  {
    let identity = #""pabal":{"m":"msg_\#(number)","d":"dlv_\#(number)"}"#
    return apns.push(
      #"{"aps":{"alert":{"title":"새로운 재능 요청","body":"하나"},"badge":1,"sound":"default","#
        + #""category":"\#(category)"},\#(identity)\#(root)}"#,
      collapseID: collapseID)
  }

  /// Ends the app: nothing of it lives on, as on a phone.
  func kill() {
    phone.kill()
    app.client = nil
    processFiles.end()
  }

  func client() throws -> PabalClient {
    try #require(app.client)
  }

  private func makeClient(_ presentation: PabalPresentationPolicy) -> PabalClient {
    let clock = phone.clock
    let work = phone.work
    let files = phone.files
    processFiles.end()
    processFiles = ProcessFiles()
    var environment = PabalEnvironment(
      clock: clock.clock,
      timers: PabalTimers { delay, fire in
        let id = clock.schedule(after: delay, fire)
        return PabalTimer { clock.cancel(id) }
      },
      randomness: .seeded(7), http: server.http,
      keychain: PabalKeychain(
        read: { [keychain, keychainLocked] name throws(PabalKeychainError) in
          if keychainLocked.withLock({ $0 }) { throw PabalKeychainError(.lockedYet) }
          return keychain.withLock { $0[name] }
        },
        write: { [keychain] name, value throws(PabalKeychainError) in keychain.withLock { $0[name] = value } }),
      application: {
        PabalApplicationFacts(
          bundleID: "kr.talentmarket.app", appVersion: "1.0", osVersion: "18.1", model: "iPhone17,3", locale: "ko-KR",
          timeZone: "Asia/Seoul", hasServiceExtension: true, hasContentExtension: false)
      },
      container: files.appendingPathComponent("app"), sharedContainer: { files.appendingPathComponent($0) },
      activity: PabalActivity {
        let ticket = work.begin("SDK")
        return { work.end(ticket) }
      })
    environment.files = processFiles.files
    return PabalClient(
      PabalClient.Configuration(
        server: URL(filePath: "/").withHTTP, key: "pp_test_1", appGroup: "group.talentmarket",
        actionCategories: [
          PabalActionCategory("TALENT_REQUEST") {
            PabalAction.accept("ACCEPT_TALENT_REQUEST", title: "수락")
            PabalAction.decline("DECLINE_TALENT_REQUEST", title: "거절")
          },
          PabalActionCategory("MESSAGE") {
            PabalAction.reply("REPLY_MESSAGE", title: "답장", placeholder: "메시지 입력")
          },
        ],
        presentation: presentation, apnsEnvironment: .sandbox, environment: environment))
  }
}

extension URL {
  fileprivate var withHTTP: URL {
    var parts = URLComponents()
    parts.scheme = "http"
    parts.host = "127.0.0.1"
    parts.port = 8420
    return parts.url ?? self
  }
}

/// What a test says to the app, and sees of it.
@MainActor final class AppProbe {
  var client: PabalClient?
  var interactions: [PabalInteraction] = []
  var routes: [String] = []
  var isReady = true
  /// Called for each launch, after `super`.
  var atLaunch: (PabalClient) -> Void = { _ in }
  var makeClient: () -> PabalClient = { preconditionFailure("no bench") }
}

final class ProbeAppDelegate: PabalAppDelegate {
  private let probe: AppProbe

  /// `makeClient` is a class method: it finds the phone's probe here.
  @TaskLocal static var current: AppProbe?

  init(probe: AppProbe) {
    self.probe = probe
    super.init()
  }

  override class func makeClient() -> PabalClient {
    guard let current else { preconditionFailure("made outside of a launch") }
    return current.makeClient()
  }

  override func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    let answer = Self.$current.withValue(probe) {
      super.application(application, didFinishLaunchingWithOptions: launchOptions)
    }
    let probe = probe
    probe.client = client
    client.onInteraction { interaction in probe.interactions.append(interaction) }
    client.routes(ready: probe.isReady) { link in probe.routes.append(link["requestId"] ?? link["chatRoomId"] ?? "?") }
    probe.atLaunch(client)
    return answer
  }
}
