import Foundation
import PabalKit
import PabalPrimitives
import PabalSimUserNotifications
import PabalSimulation
import TalentMarket

extension StoryScene {
  /// Silent in the room that is open and over the settings, shown once both are left.
  func chat() async throws {
    let token = receiver.token ?? ""
    try await step(.chatSuppressed) { show in
      try await phone.enterForeground()
      let app = try await receiver.app()
      await app.show(.chatRoom(id: cast.roomID))
      try await sendByGuide("/api/push/message", messageBody(cast.message))
      try await expectSilence(try await newestPush(token).id)
    }
    try await step(.settingsSilent) { _ in
      let app = try await receiver.app()
      await app.show(.settings)
      let review: JSONValue = [
        "receiverId": .string(cast.receiverID), "reviewerName": .string(cast.requester), "rating": 5,
      ]
      try await sendByGuide("/api/push/review", review)
      try await expectSilence(try await newestPush(token).id)
    }
    try await step(.chatShown) { show in
      let app = try await receiver.app()
      await app.show(.home)
      try await sendByGuide("/api/push/message", messageBody(cast.secondMessage))
      let text = cast.secondMessage
      let screen = try await screen(of: phone, "the banner") { screen in screen.banners.contains { $0.body == text } }
      let card = try unwrap(screen.banners.first, "no banner")
      try expect(card.title == cast.sender, "the banner is from \(card.title)")
      for line in Self.drawn(card) { show(line) }
    }
  }

  /// Expects that the app in front was asked, answered "nothing", and that the phone showed nothing.
  private func expectSilence(_ id: String) async throws {
    try await record(of: phone, "the app's answer") { event in
      if case .presented(id, _) = event { true } else { false }
    }
    try expect(phone.events.contains(.presented(id: id, options: [])), "the app showed it: \(Self.last(phone))")
    try expect(phone.screen.banners.isEmpty, "there is a banner")
    try expect(!phone.screen.list.contains { $0.id == id }, "it is in Notification Centre")
  }

  /// Reply and accept, from the notification.
  func buttons() async throws {
    let token = receiver.token ?? ""
    try await step(.reply) { _ in
      let push = try await newestPush(token)
      try await phone.enterBackground()
      try await phone.reply(cast.reply, by: "REPLY_MESSAGE", on: push.id)
      try await settle(receiver)
      try expect(receiver.heard == ["reply \(cast.roomID) \(cast.reply)"], "the backend heard \(receiver.heard)")
      try expect(!phone.isAppInFront, "a reply brought the app to the front")
      let reports = try await reports(push.delivery)
      try expect(reports.contains("action"), "the server did not hear of the reply; it heard \(reports)")
    }
    try await step(.accept) { _ in
      let request = cast.requestID + "_2"
      try await sendByGuide("/api/push/talent-request", talentRequestBody(requestID: request))
      let id = try await newestPush(token).id
      _ = try await screen(of: phone, "the second request") { screen in screen.lockScreen.contains { $0.id == id } }
      try await phone.press("ACCEPT_TALENT_REQUEST", on: id)
      try await settle(receiver)
      try expect(receiver.heard.last == "accept \(request)", "the backend heard \(receiver.heard)")
      try expect(phone.isAppInFront, "accepting did not bring the app to the front")
    }
  }

  /// A switched-off kind is decided on the server: nothing goes to Apple.
  func preferences() async throws {
    let token = receiver.token ?? ""
    try await step(.preferenceOff) { _ in
      let app = try await receiver.app()
      let off = try await app.client.preferences.set(.talentRequest, false)
      try expect(off[.talentRequest] == false, "the server answered \(off)")
      let before = try await inbox(token).count
      let body = talentRequestBody(requestID: cast.requestID + "_3")
      let answer = try await market.call("POST", "/api/push/talent-request", body, expected: 200)
      let text = String(decoding: answer.bytes, as: UTF8.self)
      try expect(answer["sent"]?.int == 0 && answer["status"]?.string == "suppressed", "the server answered \(text)")
      try expect(answer["reason"]?.string == "preference_off", "the server answered \(text)")
      let during = try await inbox(token).count
      try expect(during == before, "a push went to Apple although its kind is off")
      try await app.client.preferences.set(.talentRequest, true)
      try await sendByGuide("/api/push/talent-request", talentRequestBody(requestID: cast.requestID + "_4"))
      let after = try await inbox(token).count
      try expect(after == before + 1, "switched on again, \(after - before) pushes went to Apple")
    }
  }

  /// Somebody deletes the app; the next push finds out, and `pabal why` can say so.
  func uninstalledPhone() async throws {
    let other = try StoryPhone(links: links, sabotage: nil)
    defer { other.removeFiles() }
    try await step(.uninstalledPhone) { show in
      try await other.phone.run {
        try await other.phone.launch()
        other.phone.planPermissionAnswer(allow: true)
        let app = try await other.app()
        try await within(patience, "the answer to the permission alert") {
          _ = try await app.client.requestAuthorization()
        }
        await app.client.signIn(userID: cast.formerUserID)
        try await settle(other)
        try await expectRegistered(other, user: cast.formerUserID)
        try await other.phone.uninstall()
      }
      var body = talentRequestBody(requestID: cast.requestID + "_5")
      if case .object(let members) = body {
        body = .object(
          members.map { $0.name == "receiverId" ? JSONMember($0.name, .string(cast.formerUserID)) : $0 })
      }
      let answer = try await market.call("POST", "/api/push/talent-request", body, expected: 200)
      let text = String(decoding: answer.bytes, as: UTF8.self)
      try expect(answer["sent"]?.int == 0 && answer["failed"]?.int == 1, "the server answered \(text)")
      let message = try unwrap(answer["messageId"]?.string, "the server answered \(text)")
      let requests = try await standIn.get("/v1/simulator/requests?token=\(other.token ?? "")")["data"]?.elements ?? []
      try expect(
        requests.last?["status"]?.int == 410 && requests.last?["reason"]?.string == "Unregistered",
        "Apple's stand-in answered otherwise than 410 Unregistered")
      try await expectWhy(message, show)
    }
  }

  private func expectWhy(_ message: String, _ show: (String) -> Void) async throws {
    let pabal = story.configuration.pabal
    let environment = ["PABAL_SERVER": links.server, "PABAL_KEY": links.testKey]
    let user = cast.formerUserID
    let (status, output) = try await within(patience, "pabal why") {
      try await PabalProgram.run(pabal, ["why", user, message], environment: environment)
    }
    try expect(output.contains("apns.Unregistered"), "pabal why ended \(status) and said: \(output)")
    show("$ pabal why \(user) \(message)")
    for line in output.split(separator: "\n", omittingEmptySubsequences: false) { show(String(line)) }
  }
}
