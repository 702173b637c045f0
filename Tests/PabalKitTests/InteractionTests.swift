import PabalKit
import PabalPrimitives
import PabalSimUserNotifications
import PabalSimulation
import Testing

@Suite(.timeLimit(.minutes(1))) @MainActor struct InteractionTests {
  private func launched(_ phone: SimulatedPhone, _ bench: KitBench) async throws {
    try await phone.launch()
    try await (try bench.client()).requestAuthorization()
    await (try bench.client()).signIn(userID: "A")
    try await phone.settle()
  }

  @Test func `accept, decline and reply come with their ids and are reported as actions`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      bench.push(1, #","requestId":"r1""#)
      bench.push(2, #","requestId":"r2""#)
      bench.push(3, #","chatRoomId":"c1""#, category: "MESSAGE")
      try await phone.wait { screen, _ in screen.list.count == 3 }
      let ids = phone.screen.list.map(\.id)
      try await phone.reply("네!", by: "REPLY_MESSAGE", on: ids[0])
      try await phone.press("DECLINE_TALENT_REQUEST", on: ids[1])
      try await phone.press("ACCEPT_TALENT_REQUEST", on: ids[2])
      try await phone.settle()
      #expect(
        bench.app.interactions.map(\.kind) == [
          .reply("REPLY_MESSAGE", text: "네!"), .action("DECLINE_TALENT_REQUEST"), .action("ACCEPT_TALENT_REQUEST"),
        ])
      #expect(bench.app.routes.isEmpty)
      #expect(
        bench.server.events.filter { $0.hasPrefix("action") } == [
          "action:REPLY_MESSAGE", "action:DECLINE_TALENT_REQUEST", "action:ACCEPT_TALENT_REQUEST",
        ])
      // The reply's text is the app's; it is not reported.
      let bodies = bench.server.calls.map { String(decoding: $0.body.bytes, as: UTF8.self) }
      #expect(!bodies.contains { $0.contains("네!") })
    }
  }

  @Test func `a cleared notification is reported as dismissed`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      bench.push(1)
      try await phone.wait { screen, _ in !screen.list.isEmpty }
      try await phone.dismiss()
      try await phone.settle()
      #expect(bench.server.events.last == "dismissed:dismiss")
      #expect(bench.app.interactions.map(\.kind) == [.dismiss])
    }
  }

  @Test("OC-76 one tap reported by launch options, delegate, scene and app code is one open")
  func oneTapIsOneOpen() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      bench.kill()
      bench.push(1, #","requestId":"r1""#)
      try await phone.wait { screen, _ in !screen.lockScreen.isEmpty }
      // The cold tap brings launch options and the delegate's call; the app's own code reports it twice more.
      try await phone.tap()
      let client = try bench.client()
      let interaction = try #require(bench.app.interactions.first)
      await client.handle(interaction)
      await client.handle(PabalInteraction(.open, of: interaction.notification))
      try await phone.settle()
      #expect(bench.app.interactions.count == 1)
      #expect(bench.app.routes == ["r1"])
      #expect(bench.server.events.filter { $0 == "opened:default" }.count == 1)
    }
  }

  @Test("OC-76 an upload whose answer is lost is repeated with the same event ids")
  func repeatedUpload() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      bench.server.setReachable(false)
      bench.push(1)
      try await phone.wait { screen, _ in !screen.banners.isEmpty }
      try await phone.tap()
      try await phone.settle()
      bench.kill()
      #expect(bench.server.events.isEmpty)
      bench.server.setReachable(true)
      try await phone.launch()
      try await phone.settle()
      #expect(bench.server.events == ["received", "presented", "opened:default"])
      #expect(Set(bench.server.eventIDs).count == 3)
      await (try bench.client()).flush()
      #expect(bench.server.events.count == 3)
    }
  }

  @Test func `the same collapse id twice counts two opens`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      for number in 1...2 {
        bench.push(number, collapseID: "one")
        try await phone.wait { screen, _ in !screen.banners.isEmpty }
        try await phone.tap()
        try await phone.settle()
      }
      #expect(bench.server.events.filter { $0 == "opened:default" }.count == 2)
    }
  }

  @Test("OC-75 a cold tap waits until the router is there, and is then performed once")
  func coldTapWaits() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      bench.kill()
      bench.app.isReady = false
      bench.push(1, #","requestId":"old""#)
      bench.push(2, #","requestId":"new""#)
      try await phone.wait { screen, _ in screen.lockScreen.count == 2 }
      let ids = phone.screen.lockScreen.map(\.id)
      try await phone.tap(ids[1])
      try await phone.tap(ids[0])
      try await phone.settle()
      #expect(bench.app.routes.isEmpty)
      try await phone.advance(by: .seconds(2))
      let client = try bench.client()
      await client.signIn(userID: "A")
      client.routes(ready: true)
      client.routes(ready: true)
      #expect(bench.app.routes == ["new"])
    }
  }

  @Test("OC-74 the launch link is given once") func launchLinkOnce() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      bench.kill()
      bench.app.isReady = false
      bench.push(1, #","requestId":"a""#)
      try await phone.wait { screen, _ in !screen.lockScreen.isEmpty }
      try await phone.tap()
      try await phone.settle()
      #expect(try bench.client().consumeLaunchLink()?["requestId"] == "a")
      #expect(try bench.client().consumeLaunchLink() == nil)
      #expect(try bench.client().consumeLaunchLink() == nil)
      try await phone.enterBackground()
      try await phone.enterForeground()
      #expect(try bench.client().consumeLaunchLink() == nil)
      bench.kill()
      try await phone.launch()
      try await phone.settle()
      #expect(try bench.client().consumeLaunchLink() == nil)
      #expect(bench.app.routes.isEmpty)
    }
  }

  @Test func `a tap held for A is not performed for B`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      bench.app.isReady = false
      bench.kill()
      bench.push(1, #","requestId":"for-a""#)
      try await phone.wait { screen, _ in !screen.lockScreen.isEmpty }
      try await phone.tap()
      try await phone.settle()
      let client = try bench.client()
      await client.signIn(userID: "B")
      client.routes(ready: true)
      #expect(bench.app.routes.isEmpty)
    }
  }

  @Test func `what A was shown is gone when B signs in`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      bench.push(1)
      try await phone.wait { screen, _ in !screen.list.isEmpty }
      await (try bench.client()).signIn(userID: "B")
      try await phone.settle()
      #expect(phone.screen.list.isEmpty)
    }
  }

  @Test func `a push is silent in its open chat room and shown after the user has left it`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await launched(phone, bench)
      let client = try bench.client()
      client.screens.enter(.chatRoom("c1"))
      bench.push(1, #","chatRoomId":"c1""#, category: "MESSAGE")
      try await phone.wait { _, records in records.contains { if case .presented = $0.event { true } else { false } } }
      #expect(phone.screen.banners.isEmpty)
      bench.push(2, #","chatRoomId":"c2""#, category: "MESSAGE")
      try await phone.wait { screen, _ in screen.banners.count == 1 }
      client.screens.leave(.chatRoom("c1"))
      bench.push(3, #","chatRoomId":"c1""#, category: "MESSAGE")
      try await phone.wait { screen, _ in screen.banners.count == 2 }
      try await phone.settle()
      #expect(
        bench.server.events == ["received", "received", "presented", "received", "presented"])
    }
  }

  @Test func `a handler that never returns does not keep the system waiting`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      bench.app.atLaunch = { client in
        client.onInteraction { _ in await Self.forever() }
      }
      try await launched(phone, bench)
      bench.push(1)
      try await phone.wait { screen, _ in !screen.banners.isEmpty }
      async let tapped: Void = phone.tap()
      try await phone.wait { _, _ in phone.work.open.contains { $0.hasPrefix("didReceive") } }
      // The handler is open work: time passes under it.
      var seconds = 0
      while !phone.records.contains(where: { if case .responded = $0.event { true } else { false } }), seconds < 100 {
        try await phone.advance(by: .seconds(1), whileWorkIsOpen: true)
        seconds += 1
        await MainActor.run {}
        await Task.yield()
      }
      try await tapped
      #expect((20..<100).contains(seconds))
      bench.kill()
    }
  }

  private static func forever() async {
    await withTaskCancellationHandler {
      let (stream, _) = AsyncStream<Void>.makeStream()
      for await _ in stream {}
    } onCancel: {
    }
  }
}
