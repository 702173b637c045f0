import Foundation
import PabalPrimitives
import PabalSimulation
import TalentMarketStory
import Testing

/// What the app does while the server, or a picture, is not there.
@Suite(.serialized) struct AwayTests {
  private let patience = Duration.seconds(15)

  init() {
    setenv("no_proxy", "127.0.0.1,localhost,::1", 1)
  }

  @Test func `a tap while the server is away is reported once, when it is back`() async throws {
    let data = FileManager.default.temporaryDirectory.appendingPathComponent("talent-market-data-\(UUID().uuidString)")
    defer { removeTemporary(data) }
    let story = MarketStory(MarketStory.Configuration(pabal: pabal, seed: 31))
    let first = try await PabalServers.start(pabal: pabal, data: data, patience: patience)
    let receiver = try StoryPhone(links: first.links)
    defer { receiver.removeFiles() }
    let phone = receiver.phone
    try await phone.run {
      let before = StoryScene(story: story, links: first.links, receiver: receiver)
      let push: (id: String, payload: JSONSlice, delivery: String)
      do {
        try await before.registration()
        phone.kill()
        try await before.sendByGuide(
          "/api/push/talent-request", before.talentRequestBody(requestID: story.cast.requestID))
        push = try await before.newestPush(receiver.token ?? "")
        _ = try await before.screen(of: phone, "the card") { !$0.lockScreen.isEmpty }
      } catch {
        await first.stop()
        throw error
      }
      await first.stop()

      try await phone.tap(push.id)
      try await before.settle(receiver)
      phone.kill()

      let second = try await PabalServers.start(pabal: pabal, data: data, patience: patience)
      do {
        try receiver.moveApp(to: second.links)
        let after = StoryScene(story: story, links: second.links, receiver: receiver)
        try await phone.launch()
        try await after.settle(receiver)
        let reports = try await after.reports(push.delivery)
        #expect(reports.count { $0 == "opened" } == 1, "\(reports)")
        #expect(reports.count { $0 == "received" } == 1, "\(reports)")
        let devices = try await after.market.get("/v1/devices?userId=\(story.cast.receiverID)")["data"]?.elements
        #expect(devices?.count == 1)

        // Once more: what has been told is not told again.
        phone.kill()
        try await phone.launch()
        try await after.settle(receiver)
        let again = try await after.reports(push.delivery)
        #expect(again == reports)
      } catch {
        await second.stop()
        throw error
      }
      await second.stop()
    }
  }

  @Test func `a picture that takes too long is left out after 25 s of the phone's time`() async throws {
    let story = MarketStory(MarketStory.Configuration(pabal: pabal, seed: 32))
    let servers = try await PabalServers.start(pabal: pabal, patience: patience)
    let receiver = try StoryPhone(links: servers.links)
    defer { receiver.removeFiles() }
    let phone = receiver.phone
    do {
      try await phone.run {
        let scene = StoryScene(story: story, links: servers.links, receiver: receiver)
        try await scene.registration()
        phone.kill()
        let image = servers.links.control + "/v1/simulator/media/sample.png?delayMs=5000"
        _ = try await scene.market.call(
          "POST", "/v1/messages?wait=5",
          [
            "to": ["userIds": [.string(story.cast.receiverID)]],
            "content": ["title": "그림", "body": "천천히", "image": .string(image)],
          ], expected: 202)
        try await phone.wait { _, records in
          records.contains { if case .extensionStarted = $0.event { true } else { false } }
        }
        // The extension sets its timer after it has started; time is moved until that has happened.
        var moved = 0
        while phone.screen.lockScreen.isEmpty, moved < 10_000 {
          try await phone.advance(by: .milliseconds(50), whileWorkIsOpen: true)
          moved += 1
          try await RealTime.pass(.milliseconds(1))
        }
        #expect(phone.screen.lockScreen.map(\.title) == ["그림"])
        #expect(phone.screen.lockScreen.first?.attachments.isEmpty == true)
        #expect(!phone.events.contains { if case .extensionExpired = $0 { true } else { false } })
      }
    } catch {
      await servers.stop()
      throw error
    }
    await servers.stop()
  }
}
