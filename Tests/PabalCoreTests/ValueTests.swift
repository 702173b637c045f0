import PabalCore
import PabalModel
import PabalPrimitives
import Testing

@Suite struct ValueTests {
  private func notification(_ link: [String: String]) -> PabalNotification {
    PabalNotification(requestID: "r", date: WallTime(milliseconds: 1), identity: nil, link: link.link)
  }

  @Test(arguments: [
    (["chatRoomId": "c1"], ["c1"], PabalPresentation.silent), (["chatRoomId": "c1"], ["c2"], .full),
    (["chatRoomId": "c1"], [], .full), ([:], ["c1"], .full),
  ])
  func chatRoom(link: [String: String], rooms: [String], expected: PabalPresentation) {
    let screens = Set(rooms.map { PabalScreen.chatRoom($0) })
    #expect(PabalPresentationPolicy.standard.presentation(for: notification(link), over: screens) == expected)
  }

  @Test func `the first rule that matches decides`() {
    let policy = PabalPresentationPolicy(
      [.ofType("call", .full), .on("checkout"), .inOpenChatRoom()], otherwise: [.banner])
    #expect(policy.presentation(for: notification(["type": "call"]), over: ["checkout"]) == .full)
    #expect(policy.presentation(for: notification(["type": "x"]), over: ["checkout"]) == .silent)
    #expect(policy.presentation(for: notification(["type": "x"]), over: []) == [.banner])
  }

  @Test func `a link gives the app's own root keys, and neither aps nor pabal`() {
    let link = PabalLink(payload: ["aps": [:], "pabal": [:], "sesac": "project", "count": 3, "on": true, "deep": [1]])
    #expect(link.names == ["count", "deep", "on", "sesac"])
    #expect(link["sesac"] == "project")
    #expect(link["count"] == "3")
    #expect(link["on"] == "true")
    #expect(link["deep"] == nil)
    #expect(link.value("deep")?.elements.count == 1)
    #expect(link["missing"] == nil)
  }

  @Test func `an interaction's id tells deliveries, dates and actions apart, and nothing else`() {
    var first = notification([:])
    first.identity = PushIdentity(message: MessageID(rawValue: "m"), delivery: DeliveryID(rawValue: "d1"))
    var same = first
    same.title = "other title"
    #expect(PabalInteraction(.open, of: first).id == PabalInteraction(.open, of: same).id)
    #expect(PabalInteraction(.open, of: first).id != PabalInteraction(.action("A"), of: first).id)
    #expect(
      PabalInteraction(.reply("A", text: "1"), of: first).id == PabalInteraction(.reply("A", text: "2"), of: first).id)
    var later = first
    later.date = WallTime(milliseconds: 2)
    #expect(PabalInteraction(.open, of: first).id != PabalInteraction(.open, of: later).id)
    var other = first
    other.identity = PushIdentity(message: MessageID(rawValue: "m"), delivery: DeliveryID(rawValue: "d2"))
    #expect(PabalInteraction(.open, of: first).id != PabalInteraction(.open, of: other).id)
  }

  @Test func `errors of both of the server's shapes are read`() {
    let ours = HTTPAnswer(status: 401, body: Array(#"{"error":{"code":"key_invalid","message":"Use pp_."}}"#.utf8))
    #expect(PabalError(answer: ours).code == "key_invalid")
    let guide = HTTPAnswer(status: 400, body: Array(#"{"success":false,"code":"parameter_unknown","error":"x"}"#.utf8))
    #expect(PabalError(answer: guide).code == "parameter_unknown")
    #expect(PabalError(answer: guide).message == "x")
    #expect(PabalError(answer: HTTPAnswer(status: 502, body: Array("<html>".utf8))).code == "http_502")
  }
}
