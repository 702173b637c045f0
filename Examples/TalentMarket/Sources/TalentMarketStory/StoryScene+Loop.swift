import Foundation
import PabalKit
import PabalPrimitives
import PabalSimUserNotifications
import PabalSimulation
import TalentMarket

extension StoryScene {
  /// Install, permission, registration.
  package func registration() async throws {
    try await step(.installApp) { _ in
      try await phone.launch()
      try await settle(receiver)
      try expect(phone.isAppInFront, "the app is not in front")
      try expect(receiver.token != nil, "the phone gave the app no token: \(Self.last(phone))")
    }
    try await step(.askPermission) { _ in
      phone.planPermissionAnswer(allow: true)
      let app = try await receiver.app()
      try await within(patience, "the answer to the permission alert") {
        _ = try await app.client.requestAuthorization()
      }
      try expect(phone.events.contains(.askedForPermission), "the system's alert never appeared")
      try expect(phone.permission.status == .authorized, "the app is not allowed: \(phone.permission)")
    }
    try await step(.registerDevice) { show in
      let app = try await receiver.app()
      await app.client.signIn(userID: cast.receiverID)
      try await settle(receiver)
      try await expectRegistered(receiver, user: cast.receiverID)
      show("\(cast.receiver) (\(cast.receiverID)), device token \(Self.short(receiver.token ?? ""))")
    }
    if let faults = sabotage?.faults {
      _ = try await standIn.call("PUT", "/v1/simulator/faults", faults, expected: 200)
    }
  }

  package func expectRegistered(_ story: StoryPhone, user: String) async throws {
    let token = try unwrap(story.token, "the phone gave the app no token")
    let devices = try await market.get("/v1/devices?userId=\(user)")["data"]?.elements ?? []
    try expect(devices.count == 1, "the registry has \(devices.count) devices of \(user)")
    let seen = devices[0]["token"]?.string ?? ""
    try expect(
      seen.hasPrefix(token.prefix(4)) && seen.hasSuffix(token.suffix(4)),
      "the registry has the token \(seen), the phone gave \(Self.short(token))")
    try expect(devices[0]["permission"]?.string == "granted", "the registry does not know of the permission")
    let known = try await standIn.get("/v1/simulator/devices?token=\(token)")["data"]?.elements ?? []
    try expect(known.first?["online"]?.bool == true, "the stand-in does not have the phone on line")
  }

  /// The guide's push: lock screen, receipt, tap, route, opened.
  func talentRequest() async throws {
    phone.kill()
    if sabotage == .phoneOffline { try await phone.goOffline() }
    let token = receiver.token ?? ""
    let push = try await step(.talentRequest) { _ in
      try await sendByGuide("/api/push/talent-request", talentRequestBody(requestID: cast.requestID))
      let taken = try await inbox(token)
      try expect(taken.count == 1, "the stand-in took \(taken.count) pushes for this phone")
      let push = try await newestPush(token)
      let aps = push.payload["aps"]
      try expect(aps?["alert"]?["title"]?.string == "새로운 재능 요청", "another title went to Apple")
      try expect(aps?["category"]?.string == "TALENT_REQUEST", "another category went to Apple")
      try expect(aps?["mutable-content"]?.int == 1, "the payload does not start the service extension")
      try expect(push.payload["requestId"]?.string == cast.requestID, "the root key requestId went missing")
      return push
    }
    try await step(.lockScreen) { show in
      let id = push.id
      let screen = try await screen(of: phone, "the card on the lock screen") { screen in
        screen.lockScreen.contains { $0.id == id }
      }
      let card = try unwrap(screen.lockScreen.first, "the lock screen is empty")
      try expect(card.title == "새로운 재능 요청", "the card's title is \(card.title)")
      let body = "\(cast.requester)님이 \"\(cast.talent)\" 재능을 요청했습니다."
      try expect(card.body == body, "the card says \(card.body)")
      try expect(card.buttons.map(\.title) == ["수락", "거절"], "the card's buttons are \(card.buttons)")
      try expect(screen.badge == 1, "the badge is \(screen.badge)")
      for line in Self.drawn(card) { show(line) }
    }
    try await step(.receipt) { _ in
      try expect(
        phone.events.contains(.extensionFinished(id: push.id)), "the extension did not run: \(Self.last(phone))")
      try expect(!phone.isAppRunning, "the app runs, so that the receipt would prove nothing")
      try expect(receiver.receiptCount == 1, "\(receiver.receiptCount) receipts wait in the app group")
    }
    try await step(.tap) { _ in
      try await phone.tap(push.id)
      let app = try await receiver.app()
      let routes = await app.routes
      try expect(routes == [.talentRequest(id: cast.requestID)], "the app went to \(routes)")
      try expect(phone.isAppInFront, "the app is not in front")
      try expect(phone.events.contains(.launched(byTap: true)), "the tap did not start the app")
    }
    try await step(.openedReported) { _ in
      try await settle(receiver)
      let reports = try await reports(push.delivery)
      try expect(reports.contains("received"), "no receipt reached the server; it heard \(reports)")
      try expect(reports.count { $0 == "opened" } == 1, "opened did not reach the server once; it heard \(reports)")
    }
  }

  /// A message of the market's own making, with a picture.
  func imagePush() async throws {
    try await step(.imagePush) { show in
      try await phone.enterBackground()
      let path = "/v1/simulator/media/sample.png"
      let query = sabotage == .mediaMissing ? "?status=404" : ""
      let body: JSONValue = [
        "to": ["userIds": [.string(cast.receiverID)]],
        "content": [
          "title": .string(cast.sender), "body": .string(cast.message),
          "image": .string(links.control + path + query),
        ],
      ]
      _ = try await market.call("POST", "/v1/messages?wait=5", body, expected: 202)
      let push = try await newestPush(receiver.token ?? "")
      let id = push.id
      let screen = try await screen(of: phone, "the card with the picture") { screen in
        screen.lockScreen.contains { $0.id == id }
      }
      let card = try unwrap(screen.lockScreen.first { $0.id == id }, "the lock screen is empty")
      try expect(card.body == cast.message, "the card says \(card.body)")
      let picture = try unwrap(card.attachments.first, "no picture on the card")
      try expect(picture.type == "public.png", "the picture's type is \(picture.type)")
      let content = Array(try Data(contentsOf: picture.file))
      try expect(content.starts(with: Self.signatureOfPNG), "what is on the card is no PNG, whatever its name says")
      try expect(SHA256.hex(content) == Self.samplePicture, "the picture is not the stand-in's sample.png")
      for line in Self.drawn(card) { show(line) }
    }
  }

  /// The first bytes of every PNG (RFC 2083 section 3.1).
  private static let signatureOfPNG: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// SHA-256 of the stand-in's sample.png, whose bytes never change.
  private static let samplePicture = "21eb9ce8bc4feea95f6696042aebb3564bb03ffd284fd8de78359cc1a4633687"

  /// A card as text.
  static func drawn(_ card: NotificationCard) -> [String] {
    var lines = ["┌ \(card.title)", "│ \(card.body)"]
    for picture in card.attachments { lines.append("│ [\(picture.type), \(picture.byteCount) bytes]") }
    lines.append(card.buttons.isEmpty ? "└" : "└ " + card.buttons.map { "[\($0.title)]" }.joined(separator: " "))
    return lines
  }

  static func short(_ token: String) -> String {
    "\(token.prefix(4))…\(token.suffix(4))"
  }
}
