import Foundation
import PabalPrimitives
import PabalSimUIKit
import PabalSimUserNotifications
import PabalSimulation
import Testing

@Suite struct PhoneTests {
  @Test func `an app asks for its token and gets it as bytes on the main actor`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      #expect(bench.journal.lines == ["launch inactive room=0", "active", "token abab"])
      #expect(phone.events.contains(.registered(token: String(repeating: "ab", count: 32))))
    }
  }

  @Test func `without a network the token comes when the network does`() async throws {
    let bench = Bench()
    try await bench.phone.run {
      try await bench.phone.goOffline()
      try await bench.phone.launch()
      try await bench.phone.asApp { UIApplication.shared.registerForRemoteNotifications() }
      #expect(!bench.journal.lines.contains { $0.hasPrefix("token") })
      bench.phone.goOnline()
      try await bench.phone.settle()
      #expect(bench.journal.lines.last == "token abab")
    }
  }

  @Test func `the permission alert waits for the user, and is asked once`() async throws {
    let bench = Bench()
    let phone = bench.phone
    try await phone.run {
      try await phone.launch()
      let answers = Journal()
      try await phone.centre().requestAuthorization(options: [.alert]) { granted, _ in answers.write("\(granted)") }
      #expect(phone.screen.permissionPrompt?.asksForAlerts == true)
      #expect(phone.screen.permissionPrompt?.asksForBadges == false)
      #expect(answers.lines.isEmpty)
      phone.answerPermission(allow: false)
      try await phone.centre().requestAuthorization(options: [.alert]) { granted, _ in answers.write("\(granted)") }
      try await phone.settle()
      #expect(answers.lines == ["false", "false"])
      #expect(phone.screen.permissionPrompt == nil)
      #expect(phone.permission.status == .denied)
    }
  }

  @Test func `provisional permission needs no alert and shows quietly`() async throws {
    let bench = Bench()
    let phone = bench.phone
    try await phone.run {
      try await phone.launch()
      try await phone.asApp { UIApplication.shared.registerForRemoteNotifications() }
      try await phone.centre().requestAuthorization(options: [.alert, .provisional]) { _, _ in }
      try await phone.settle()
      try await phone.enterBackground()
      try await bench.push(alert("quiet"))
      #expect(phone.screen.lockScreen.isEmpty)
      #expect(phone.screen.list.map(\.title) == ["quiet"])
      #expect(phone.soundsPlayed == 0)
    }
  }

  @Test func `the app in front decides what is shown`() async throws {
    let shown = Bench()
    try await shown.run { phone in
      try await shown.push(alert("hello"))
      #expect(phone.screen.banners.map(\.title) == ["hello"])
      #expect(phone.screen.list.map(\.title) == ["hello"])
      #expect(phone.screen.badge == 1)
      #expect(phone.soundsPlayed == 1)
      #expect(shown.journal.lines.last == "willPresent hello main=false")
    }
    let silent = Bench(AppScript(options: []))
    try await silent.run { phone in
      try await silent.push(alert("hello"))
      #expect(phone.screen == PhoneScreen())
    }
  }

  @Test func `a card on the lock screen gives way to one with the same identifier`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      try await phone.enterBackground()
      try await bench.push(alert("one"), collapseID: "room")
      try await bench.push(alert("other"))
      try await bench.push(alert("two"), collapseID: "room")
      #expect(phone.screen.lockScreen.map(\.title) == ["two", "other"])
      #expect(phone.screen.list.map(\.title) == ["two", "other"])
    }
  }

  @Test func `a push that comes again after a reconnect is shown once`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      try await phone.enterBackground()
      try await bench.push(alert("one"), inboxID: "in_7")
      try await bench.push(alert("one"), inboxID: "in_7")
      #expect(phone.screen.lockScreen.count == 1)
    }
  }

  @Test func `what came while the phone was off line is shown when it is back`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      try await phone.enterBackground()
      try await phone.goOffline()
      bench.apns.push(alert("late"))
      #expect(phone.screen.lockScreen.isEmpty)
      phone.goOnline()
      try await phone.wait { screen, _ in screen.lockScreen.map(\.title) == ["late"] }
    }
  }

  @Test func `a cold tap is one launch with options, then the response, then the front`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      phone.kill()
      try await bench.push(alert("hello", root: #","room":7"#))
      #expect(!phone.isAppRunning)
      try await phone.tap()
      #expect(
        Array(bench.journal.lines.suffix(3)) == [
          "launch inactive room=7", "didReceive UNNotificationDefaultActionIdentifier text=- room=7 main=false",
          "active",
        ])
      #expect(phone.screen.list.isEmpty)
      #expect(phone.isAppInFront)
      #expect(phone.defects.isEmpty)
    }
  }

  @Test func `a tap with the app in the background reaches it before it is active`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      try await phone.enterBackground()
      try await bench.push(alert("hello"))
      try await phone.tap()
      #expect(
        Array(bench.journal.lines.suffix(3)) == [
          "willEnterForeground", "didReceive UNNotificationDefaultActionIdentifier text=- room=0 main=false", "active",
        ])
    }
  }

  @Test func `buttons, replies and dismissal`() async throws {
    let bench = Bench(AppScript(categories: { [chatCategory(), UNNotificationCategory.plain] }))
    try await bench.run { phone in
      try await phone.enterBackground()
      let categorised = #","category":"CHAT""#
      try await bench.push(alert("hello", more: categorised))
      #expect(phone.screen.lockScreen.first?.buttons.map(\.title) == ["답장", "열기"])
      #expect(phone.screen.lockScreen.first?.buttons.first?.placeholder == "메시지 입력")
      try await phone.reply("네", by: "REPLY")
      #expect(bench.journal.lines.last == "didReceive REPLY text=네 room=0 main=false")
      #expect(!phone.isAppInFront)

      try await bench.push(alert("hello", more: categorised))
      await #expect(throws: PhoneError.self) { try await phone.press("NO_SUCH") }
      await #expect(throws: PhoneError.self) { try await phone.press("REPLY") }
      try await phone.dismiss()
      #expect(bench.journal.lines.last == "didReceive UNNotificationDismissActionIdentifier text=- room=0 main=false")

      try await bench.push(alert("hello", more: categorised))
      try await phone.press("OPEN")
      #expect(phone.isAppInFront)

      try await phone.enterBackground()
      let before = bench.journal.lines
      try await bench.push(alert("hello", more: #","category":"PLAIN""#))
      try await phone.dismiss()
      #expect(bench.journal.lines == before)
      #expect(phone.screen.lockScreen.isEmpty)
      await #expect(throws: PhoneError.self) { try await phone.tap() }
    }
  }

  @Test func `a handler called twice or never is a defect, and never shows nothing`() async throws {
    let twice = Bench(AppScript(answersToPresentation: 2, answersToResponse: 2))
    try await twice.run { phone in
      try await twice.push(alert("hello"))
      try await phone.tap()
      // The first answers have come; the handlers may not have returned yet.
      try await phone.settle()
      #expect(phone.defects.map(\.kind) == [.answeredTwice, .answeredTwice])
    }
    let never = Bench(AppScript(answersToPresentation: 0))
    try await never.run { phone in
      try await never.push(alert("hello"))
      #expect(phone.defects.map(\.kind) == [.neverAnswered])
      #expect(phone.screen == PhoneScreen())
    }
  }

  @Test func `the centre does not keep its delegate: a tap is lost and said to be`() async throws {
    let bench = Bench(AppScript(keepsCentreDelegate: false))
    try await bench.run { phone in
      try await phone.enterBackground()
      try await bench.push(alert("hello"))
      try await phone.tap()
      #expect(phone.defects.map(\.kind) == [.responseWithoutDelegate])
    }
  }

  @Test func `a silent push starts an app that the system ended, and not one that the user killed`() async throws {
    let bench = Bench()
    let silent = #"{"aps":{"content-available":1},"kind":"sync"}"#
    try await bench.run { phone in
      try await bench.push(silent)
      #expect(bench.journal.lines.last == "silent active sync")
      try await phone.enterBackground()
      phone.terminateInBackground()
      try await bench.push(silent)
      #expect(Array(bench.journal.lines.suffix(2)) == ["launch background room=0", "silent background sync"])
      phone.kill()
      try await bench.push(silent)
      #expect(!phone.isAppRunning)
    }
  }

  @Test func `what the user does not allow is not shown`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      try await phone.enterBackground()
      phone.changeSettings { $0.alerts = false }
      try await bench.push(alert("hello"))
      #expect(phone.screen == PhoneScreen())
      phone.changeSettings {
        $0.alerts = true
        $0.badges = false
        $0.sounds = false
        $0.lockScreen = false
      }
      try await bench.push(alert("hello"))
      #expect(phone.screen.lockScreen.isEmpty)
      #expect(phone.screen.list.count == 1)
      #expect(phone.screen.badge == 0)
      #expect(phone.soundsPlayed == 0)
    }
  }

  @Test func `a call of an ended process does nothing`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      let old = try await phone.centre()
      phone.kill()
      try await phone.launch()
      old.setBadgeCount(5)
      #expect(phone.screen.badge == 0)
      #expect(phone.defects.map(\.kind) == [.callFromEndedProcess])
    }
  }

  @Test func `an uninstalled app has no token, no cards and cannot be opened`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      try await phone.enterBackground()
      try await bench.push(alert("hello"))
      try await phone.uninstall()
      #expect(bench.apns.isUninstalled)
      #expect(phone.screen == PhoneScreen())
      await #expect(throws: PhoneError.self) { try await phone.launch() }
    }
  }

  @Test func `two phones in one process each have their own singletons`() async throws {
    let jiwon = Bench(token: 1)
    let minho = Bench(token: 2)
    try await jiwon.run { first in
      try await minho.run { second in
        #expect(SimulatedPhone.current === second)
        try await jiwon.push(alert("for jiwon"))
        #expect(first.screen.banners.map(\.title) == ["for jiwon"])
        #expect(second.screen.banners.isEmpty)
        #expect(jiwon.journal.lines.contains("token 0101"))
        #expect(minho.journal.lines.contains("token 0202"))
      }
    }
  }

  @Test func `a payload that is not JSON, or is for another app, is a defect`() async throws {
    let bench = Bench()
    try await bench.run { phone in
      try await bench.push("{")
      #expect(phone.defects.map(\.kind) == [.unreadablePayload])
      #expect(phone.screen == PhoneScreen())
    }
  }
}

private func chatCategory() -> UNNotificationCategory {
  UNNotificationCategory(
    identifier: "CHAT",
    actions: [
      UNTextInputNotificationAction(
        identifier: "REPLY", title: "답장", options: [], textInputButtonTitle: "보내기", textInputPlaceholder: "메시지 입력"),
      UNNotificationAction(identifier: "OPEN", title: "열기", options: [.foreground]),
    ], intentIdentifiers: [], options: [.customDismissAction])
}

extension UNNotificationCategory {
  fileprivate static var plain: UNNotificationCategory {
    UNNotificationCategory(identifier: "PLAIN", actions: [], intentIdentifiers: [])
  }
}
