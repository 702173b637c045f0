import Foundation
import PabalKit
import PabalPrimitives
import PabalSimUserNotifications
import PabalSimulation
import Testing

@Suite(.timeLimit(.minutes(1))) @MainActor struct CrashTests {
  @Test func `a process that dies in its handler is told again, with the same id, by the next`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      let begun = Locked<[String]>([])
      bench.app.atLaunch = { client in
        client.onInteraction { interaction in
          begun.withLock { $0.append(interaction.id) }
          let (stream, _) = AsyncStream<Void>.makeStream()
          for await _ in stream {}
        }
      }
      try await phone.launch()
      try await (try bench.client()).requestAuthorization()
      await (try bench.client()).signIn(userID: "A")
      bench.push(1, #","requestId":"r1""#)
      try await phone.wait { screen, _ in !screen.list.isEmpty }
      let tap = Task { try await phone.press("DECLINE_TALENT_REQUEST") }
      while begun.withLock({ $0.isEmpty }) { await Task.yield() }
      bench.kill()
      bench.app.atLaunch = { _ in }
      try await phone.launch()
      try await phone.advance(by: .seconds(31), whileWorkIsOpen: true)
      try await tap.value
      try await phone.settle()
      let again = try #require(bench.app.interactions.first)
      #expect(again.kind == .action("DECLINE_TALENT_REQUEST"))
      #expect(again.notification.link["requestId"] == "r1")
      #expect(begun.withLock { $0 } == [again.id])
      bench.kill()
      try await phone.launch()
      try await phone.settle()
      #expect(bench.app.interactions.count == 1)
      // The dead process may have sent it as well: then under the same id.
      #expect(Set(bench.server.eventIDs).count == 3)
    } afterwards: { defects in
      // The killed process could not answer.
      #expect(defects.allSatisfy { $0.what.hasPrefix("didReceive") })
    }
  }

  @Test func `deleted and installed again: same install, later epoch, nobody signed in`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      await (try bench.client()).signIn(userID: "A")
      await (try bench.client()).flush()
      bench.kill()
      try FileManager.default.removeItem(at: phone.files.appendingPathComponent("app"))
      try await phone.launch()
      try await phone.settle()
      let states = bench.server.registrations
      #expect(states.last?["userId"]?.isNull == true)
      #expect(states.last?["epoch"]?.int == 2)
      #expect(states.last?["installId"]?.string == states.first?["installId"]?.string)
      #expect(bench.server.calls.last?.headers["Pabal-Install-Secret"] == "s3cret")
    }
  }

  @Test func `a process that has ended writes nothing, though its client is still held`() async throws {
    let bench = KitBench()
    var held: PabalClient?
    try await bench.run { phone in
      try await phone.launch()
      held = try bench.client()
      try await phone.settle()
    }
    let client = try #require(held)
    await client.signIn(userID: "A")
    #expect(await client.recentProblems().map(\.code).contains("file_reach_failed"))
    #expect(!FileManager.default.fileExists(atPath: bench.phone.files.path))
  }

  @Test func `before start returns, nothing is read and nothing is sent`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      let files = phone.files
      bench.app.atLaunch = { _ in
        #expect(!FileManager.default.fileExists(atPath: files.appendingPathComponent("app").path))
        #expect(bench.storedKeychain.isEmpty)
        #expect(bench.server.calls.isEmpty)
      }
      try await phone.launch()
      try await phone.settle()
      #expect(!bench.storedKeychain.isEmpty)
    }
  }

  @Test("OC-70 two delegates that pass notifications to each other: each is called once, answered once")
  func twoDelegates() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      let other = EchoDelegate()
      bench.app.atLaunch = { client in
        other.back = PabalNotificationDelegate(client: client, forwardingTo: other)
      }
      try await phone.launch()
      try await (try bench.client()).requestAuthorization()
      bench.apns.push(#"{"aps":{"alert":"foreign"}}"#)
      try await phone.wait { _, records in records.contains { if case .presented = $0.event { true } else { false } } }
      #expect(other.presented.withLock { $0 } == 1)
      bench.push(1)
      try await phone.wait { screen, _ in !screen.banners.isEmpty }
      #expect(other.presented.withLock { $0 } == 1)
      try await phone.tap()
      try await phone.settle()
      #expect(bench.app.interactions.count == 1)
      other.back = nil
    }
  }
}

/// Another SDK, which passes on what it gets.
@MainActor final class EchoDelegate: NSObject {
  nonisolated let presented = Locked(0)
  nonisolated private let held = Locked<PabalNotificationDelegate?>(nil)

  var back: PabalNotificationDelegate? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}

extension EchoDelegate: UNUserNotificationCenterDelegate {
  nonisolated func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    presented.withLock { $0 += 1 }
    guard let back = held.withLock({ $0 }) else { return completionHandler([.banner]) }
    back.userNotificationCenter(center, willPresent: notification, withCompletionHandler: completionHandler)
  }
}
