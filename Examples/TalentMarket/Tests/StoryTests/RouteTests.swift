import PabalKit
import TalentMarket
import Testing

@Suite struct RouteTests {
  @Test(
    arguments: [
      (["type": "talent_request", "requestId": "r1"] as KeyValuePairs, .talentRequest(id: "r1")),
      (["type": "message", "chatRoomId": "c1", "senderId": "u"], .chatRoom(id: "c1")),
      (["type": "review"], .reviews),
      (["type": "talent_request"], nil),
      (["type": "message"], nil),
      (["type": "of a later version"], nil),
      ([:], nil),
    ] as [(KeyValuePairs<String, String>, TalentMarketScreen?)])
  func `the guide's root keys name the screen`(keys: KeyValuePairs<String, String>, screen: TalentMarketScreen?) {
    #expect(TalentMarketScreen(PabalLink(keys)) == screen)
  }
}
