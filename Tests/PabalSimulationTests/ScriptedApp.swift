import Foundation
import PabalPrimitives
import PabalSimUIKit
import PabalSimUserNotifications
import PabalSimulation

/// What the app under test saw, in order.
final class Journal: Sendable {
  private let state = Locked<[String]>([])
  var lines: [String] { state.withLock { $0 } }
  func write(_ line: String) { state.withLock { $0.append(line) } }
}

/// How a scripted app answers.
struct AppScript: Sendable {
  var options: UNNotificationPresentationOptions = [.banner, .list, .sound, .badge]
  var answersToPresentation = 1
  var answersToResponse = 1
  var keepsCentreDelegate = true
  var categories: @Sendable () -> Set<UNNotificationCategory> = { [] }
}

final class ScriptedApp: NSObject, UIApplicationDelegate {
  let journal: Journal
  let script: AppScript
  var centreDelegate: ScriptedCentreDelegate?

  init(journal: Journal, script: AppScript) {
    self.journal = journal
    self.script = script
  }

  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    MainActor.assertIsolated()
    let payload = options?[.remoteNotification] as? [AnyHashable: Any]
    journal.write("launch \(application.applicationState) room=\(payload?["room"] as? Int ?? 0)")
    let delegate = ScriptedCentreDelegate(journal: journal, script: script)
    if script.keepsCentreDelegate { centreDelegate = delegate }
    let centre = UNUserNotificationCenter.current()
    centre.delegate = delegate
    centre.setNotificationCategories(script.categories())
    return true
  }

  func applicationDidBecomeActive(_ application: UIApplication) { journal.write("active") }
  func applicationDidEnterBackground(_ application: UIApplication) { journal.write("background") }
  func applicationWillEnterForeground(_ application: UIApplication) { journal.write("willEnterForeground") }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {
    MainActor.assertIsolated()
    journal.write("token \(Hex.encode(Array(deviceToken.prefix(2))))")
  }

  func application(
    _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
  ) {
    journal.write("no token")
  }

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    journal.write("silent \(application.applicationState) \(userInfo["kind"] as? String ?? "")")
    completionHandler(.newData)
  }
}

final class ScriptedCentreDelegate: NSObject, UNUserNotificationCenterDelegate {
  let journal: Journal
  let script: AppScript

  init(journal: Journal, script: AppScript) {
    self.journal = journal
    self.script = script
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    journal.write("willPresent \(notification.request.content.title) main=\(Thread.isMainThread)")
    for _ in 0..<script.answersToPresentation { completionHandler(script.options) }
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    let text = (response as? UNTextInputNotificationResponse)?.userText ?? "-"
    let action = response.actionIdentifier.split(separator: ".").last ?? ""
    let room = response.notification.request.content.userInfo["room"] as? Int ?? 0
    journal.write("didReceive \(action) text=\(text) room=\(room) main=\(Thread.isMainThread)")
    for _ in 0..<script.answersToResponse { completionHandler() }
  }
}

/// One phone with one scripted app and a line to Apple without a network.
struct Bench {
  let phone: SimulatedPhone
  let apns: LoopbackAPNs
  let journal = Journal()

  init(
    _ script: AppScript = AppScript(), token: UInt8 = 0xAB,
    makeExtension: (@Sendable () -> UNNotificationServiceExtension)? = nil
  ) {
    let journal = journal
    apns = LoopbackAPNs(topic: "com.example.shop", token: Array(repeating: token, count: 32))
    phone = SimulatedPhone(
      app: InstalledApp(
        bundleID: "com.example.shop", makeDelegate: { ScriptedApp(journal: journal, script: script) },
        makeExtension: makeExtension),
      link: apns.link,
      files: FileManager.default.temporaryDirectory.appendingPathComponent("phone-\(UUID().uuidString)"),
      clock: PhoneClock(startingAt: WallTime(milliseconds: 1_800_000_000_000)))
  }

  /// Runs `story` on a phone whose app is in front, allowed to notify and registered.
  func run(_ story: (SimulatedPhone) async throws -> Void) async throws {
    try await phone.run {
      phone.planPermissionAnswer(allow: true)
      try await phone.launch()
      try await phone.asApp { UIApplication.shared.registerForRemoteNotifications() }
      try await phone.centre().requestAuthorization(options: [.alert, .sound, .badge]) { _, _ in }
      try await phone.wait { _, records in
        records.contains { $0.event == .permissionAnswered(granted: true) }
          && records.contains { if case .registered = $0.event { true } else { false } }
      }
      try await phone.settle()
      try await story(phone)
    }
    try? FileManager.default.removeItem(at: phone.files)
  }

  /// Pushes and waits until the phone has done with it.
  func push(_ payload: String, collapseID: String? = nil, inboxID: String? = nil) async throws {
    let apnsID = apns.push(payload, collapseID: collapseID, inboxID: inboxID)
    try await phone.wait { _, records in
      records.contains { record in
        switch record.event {
        case .received(_, apnsID), .receivedAgain(apnsID): true
        default: false
        }
      }
    }
    try await phone.settle()
  }
}

func alert(_ title: String, more: String = "", root: String = "") -> String {
  #"{"aps":{"alert":{"title":"\#(title)","body":"b"},"badge":1,"sound":"default"\#(more)}\#(root)}"#
}

extension SimulatedPhone {
  /// The centre that the running app talks to.
  func centre() async throws -> UNUserNotificationCenter {
    try await asApp { UNUserNotificationCenter.current() }
  }
}
