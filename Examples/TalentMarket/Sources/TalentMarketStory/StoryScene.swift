import Foundation
import PabalKit
package import PabalPrimitives
package import PabalSimulation
import TalentMarket

/// The parts of the story and whom they are told with.
package struct StoryScene: Sendable {
  package let story: MarketStory
  package let links: PabalLinks
  package let receiver: StoryPhone
  /// The market's backend, with its secret key.
  package let market: JSONService
  /// The stand-in's own records.
  package let standIn: JSONService

  package var cast: StoryCast { story.cast }
  package var phone: SimulatedPhone { receiver.phone }
  var patience: Duration { story.configuration.patience }
  var sabotage: Sabotage? { story.configuration.sabotage }

  package init(story: MarketStory, links: PabalLinks, receiver: StoryPhone) {
    self.story = story
    self.links = links
    self.receiver = receiver
    market = JSONService(root: links.server, key: links.testKey)
    standIn = JSONService(root: links.control, key: nil)
  }

  func step<Answer: Sendable>(
    _ step: StoryStep, _ body: (_ show: (String) -> Void) async throws -> Answer
  ) async throws -> Answer {
    try await story.step(step, body)
  }

  // MARK: Waiting

  package func settle(_ story: StoryPhone) async throws {
    let phone = story.phone
    do {
      try await within(patience, "the app has finished what it does") { try await phone.settle() }
    } catch let unmet as Unmet {
      throw Unmet("\(unmet); still open: \(phone.work.open.joined(separator: ", "))")
    }
  }

  /// The screen once `isMet` holds.
  package func screen(
    of phone: SimulatedPhone, _ what: String, until isMet: @escaping @Sendable (PhoneScreen) -> Bool
  ) async throws -> PhoneScreen {
    do {
      try await within(patience, what) { try await phone.wait { screen, _ in isMet(screen) } }
    } catch let unmet as Unmet {
      throw Unmet("\(unmet); the phone recorded \(Self.last(phone))")
    }
    return phone.screen
  }

  /// Waits for a record of the phone.
  func record(
    of phone: SimulatedPhone, _ what: String, _ isIt: @escaping @Sendable (PhoneRecord.Event) -> Bool
  ) async throws {
    try await within(patience, what) {
      try await phone.wait { _, records in records.contains { isIt($0.event) } }
    }
  }

  /// The newest of what the phone recorded, for a failure's text.
  static func last(_ phone: SimulatedPhone) -> String {
    phone.events.suffix(4).map { "\($0)" }.joined(separator: "; ")
  }

  // MARK: Records of others

  /// What the stand-in took for a token, oldest first.
  func inbox(_ token: String) async throws -> [JSONSlice] {
    try await standIn.get("/v1/simulator/inbox?token=\(token)&limit=1000")["data"]?.elements ?? []
  }

  /// The newest push that the stand-in took for the receiver: its identifier on the phone and its delivery.
  package func newestPush(_ token: String) async throws -> (id: String, payload: JSONSlice, delivery: String) {
    let push = try unwrap(try await inbox(token).last, "the stand-in took no push for this phone")
    let payload = try unwrap(push["payload"], "the stand-in's record has no payload")
    let id = try unwrap(push["collapseId"]?.string ?? push["apnsId"]?.string, "the push has no apns-id")
    let delivery = try unwrap(payload["pabal"]?["d"]?.string, "the payload lacks pabal.d: it cannot be reported")
    return (id, payload, delivery)
  }

  /// Asks for a push by a route of the guide, and expects that Apple took it for one device.
  package func sendByGuide(_ path: String, _ body: JSONValue) async throws {
    let answer = try await market.call("POST", path, body, expected: 200)
    try expect(
      answer["success"]?.bool == true && answer["sent"]?.int == 1 && answer["failed"]?.int == 0,
      "POST \(path) answered \(String(decoding: answer.bytes, as: UTF8.self))")
  }

  /// The kinds of event in the trace of a delivery, in order.
  package func reports(_ delivery: String) async throws -> [String] {
    let trace = try await market.get("/v1/deliveries/\(delivery)/trace")
    return (trace["steps"]?.elements ?? [])
      .filter { $0["step"]?.string == "reports" }.compactMap { $0["result"]?.string }
  }

  package func talentRequestBody(requestID: String) -> JSONValue {
    [
      "receiverId": .string(cast.receiverID), "requesterName": .string(cast.requester),
      "talentTitle": .string(cast.talent), "requestId": .string(requestID),
    ]
  }

  func messageBody(_ text: String) -> JSONValue {
    [
      "receiverId": .string(cast.receiverID), "senderName": .string(cast.sender), "message": .string(text),
      "chatRoomId": .string(cast.roomID), "senderId": "u_sender",
    ]
  }
}
