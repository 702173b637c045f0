import APNs
import PabalModel
import PabalPrimitives
import Testing

@Suite struct APNsReplyTests {
  @Test("OC-20 the timestamp of a 410 is milliseconds, optional, and other members do no harm")
  func timestamps() {
    let dead = classify(410, #"{"reason":"Unregistered","timestamp":1799568000000}"#)
    #expect(dead.verdict == .tokenDead)
    #expect(dead.timestamp == WallTime(rfc3339: "2027-01-10T08:00:00Z"))
    #expect(classify(410, #"{"reason":"Unregistered"}"#).timestamp == nil)
    #expect(classify(410, #"{"reason":"Unregistered"}"#).verdict == .tokenDead)
    let extra = classify(410, #"{"x":[1],"timestamp":1.799568e12,"reason":"Unregistered"}"#)
    #expect(extra == dead)
  }

  @Test("OC-23 each answer asks for exactly one thing; only a dead token may change a registry")
  func table() {
    let rows: [(Int, String, APNsVerdict, String?)] = [
      (400, #"{"reason":"BadDeviceToken"}"#, .tokenSuspect, "apns.BadDeviceToken"),
      (400, #"{"reason":"DeviceTokenNotForTopic"}"#, .tokenSuspect, "apns.DeviceTokenNotForTopic"),
      (400, #"{"reason":"BadTopic"}"#, .configuration, "apns.BadTopic"),
      (400, #"{"reason":"MissingTopic"}"#, .configuration, "apns.MissingTopic"),
      (400, #"{"reason":"PayloadEmpty"}"#, .messageInvalid, "apns.PayloadEmpty"),
      (400, #"{"reason":"BadExpirationDate"}"#, .messageInvalid, "apns.BadExpirationDate"),
      (403, #"{"reason":"InvalidProviderToken"}"#, .configuration, "apns.InvalidProviderToken"),
      (403, #"{"reason":"TopicDisallowed"}"#, .configuration, "apns.TopicDisallowed"),
      (410, #"{"reason":"Unregistered"}"#, .tokenDead, "apns.Unregistered"),
      (410, #"{"reason":"ExpiredToken"}"#, .tokenDead, "apns.ExpiredToken"),
      (413, #"{"reason":"PayloadTooLarge"}"#, .messageInvalid, "apns.PayloadTooLarge"),
      (429, #"{"reason":"TooManyRequests"}"#, .retryLater, "apns.TooManyRequests"),
      (500, "", .retryLater, "apns.500"),
      (503, #"{"reason":"Shutdown"}"#, .retryOnNewConnection, "apns.Shutdown"),
      (418, #"{"reason":"BrandNewReason"}"#, .unknown, "apns.BrandNewReason"),
      (400, "", .unknown, "apns.400"),
      (400, "<html><body>no</body></html>", .unknown, "apns.400"),
      (410, "", .unknown, "apns.410"),
      (200, "", .accepted, nil),
    ]
    for (status, body, verdict, code) in rows {
      let reply = classify(status, body)
      #expect(reply.verdict == verdict, "\(status) \(body)")
      #expect(reply.reasonCode?.rawValue == code)
      #expect(reply.status == status)
    }
  }

  @Test func strangeBodiesGiveNoReason() {
    for body in [
      "[]", "{}", #"{"reason":5}"#, #"{"reason":""}"#, #"{"reason":"x""#, String(repeating: " ", count: 5000),
    ] {
      #expect(classify(400, body).reason == nil)
    }
    #expect(classify(410, #"{"reason":"Unregistered","timestamp":"soon"}"#).timestamp == nil)
  }

  private func classify(_ status: Int, _ body: String) -> APNsReply {
    APNsReply.classify(status: status, body: Array(body.utf8))
  }
}
