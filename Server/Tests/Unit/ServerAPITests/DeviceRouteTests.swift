import HTTPServer
import PabalModel
import PabalPrimitives
import Storage
import Testing

@Suite struct DeviceRouteTests {
  static func body(
    user: String = #""u""#, epoch: Int = 1, token: String = "\"\(TestAPI.token)\"", more: String = ""
  ) -> String {
    #"{"installId":"i_1","epoch":\#(epoch),"userId":\#(user),"platform":"ios","token":\#(token)\#(more)}"#
  }

  static let whole =
    #"""
    ,"bundleId":"com.example.app","environment":"sandbox","appVersion":"2.4.0",\#
    "osVersion":"18.1","model":"iPhone17,3","locale":"en-US","timeZone":"Asia/Seoul",\#
    "permission":"granted","lockScreen":true,"sdkVersion":"0.1.0",\#
    "capabilities":{"serviceExtension":true,"contentExtension":false}
    """#

  @Test func creationGivesASecretAndAdoptsTheToken() async throws {
    let api = try await TestAPI()
    let reply = try await api.call(.put, "/v1/devices", Self.body(more: Self.whole), key: TestAPI.publishable)
    #expect(reply.status == 200)
    #expect(reply["status"]?.string == "created")
    #expect(reply["object"]?.string == "device")
    #expect(reply["mode"]?.string == "test")
    #expect(reply["userId"]?.string == "u")
    #expect(reply["environment"]?.string == "sandbox")
    #expect(reply["installSecret"]?.string?.isEmpty == false)
    #expect(reply.headers.contains(HTTPField("Pabal-Warning", "identity_open")))
    #expect(api.adopted.withLock { $0 } == ["\(TestAPI.token) com.example.app sandbox"])
    let list = try await api.call(.get, "/v1/devices?userId=u")
    let device = try #require(list["data"]?.elements.first)
    #expect(device["token"]?.string == "740f…4bad")
    #expect(device["permission"]?.string == "granted")
    #expect(device["id"]?.string == reply["id"]?.string)
  }

  @Test("E1: mutable-content comes with the service extension, and the text in the device's language")
  func capabilities() async throws {
    let api = try await TestAPI()
    try await api.call(.put, "/v1/devices", Self.body(more: Self.whole), key: TestAPI.publishable)
    try await api.talentRequest("u")
    let payload = api.sent.withLock { String(decoding: $0[0].push.payload, as: UTF8.self) }
    #expect(payload.contains(#""title":"New talent request""#))
    #expect(payload.contains(#""category":"TALENT_REQUEST","mutable-content":1}"#))
    #expect(!payload.contains("image"))
  }

  @Test("a misspelt install id is named, and not only missed") func misspelt() async throws {
    let api = try await TestAPI()
    let reply = try await api.call(
      .put, "/v1/devices", #"{"installID":"i","userId":null,"platform":"ios","token":"\#(TestAPI.token)"}"#,
      key: TestAPI.publishable)
    #expect(reply.code == "parameter_unknown")
    #expect(reply.json["error"]?["param"]?.string == "installID")
  }

  @Test("a device without a token is taken from its user all the same; taken twice is no error")
  func deletionWithoutToken() async throws {
    let api = try await TestAPI()
    let made = try await api.call(.put, "/v1/devices", Self.body(token: "null"), key: TestAPI.publishable)
    let id = try #require(made["id"]?.string)
    let deleted = try await api.call(.delete, "/v1/devices/\(id)")
    #expect(deleted.status == 200)
    #expect(deleted["deleted"]?.bool == true)
    #expect(deleted["inFlight"]?.int == 0)
    #expect(try await api.call(.get, "/v1/devices?userId=u")["data"]?.elements.isEmpty == true)
    #expect(try await api.call(.delete, "/v1/devices/\(id)")["deleted"]?.bool == false)
    #expect(try await api.call(.delete, "/v1/devices/dev_nobody").status == 404)
  }

  @Test("sign-out by the install's secret; a lower epoch changes nothing")
  func signOut() async throws {
    let api = try await TestAPI()
    let made = try await api.call(.put, "/v1/devices", Self.body(epoch: 3), key: TestAPI.publishable)
    let secret = HTTPField("Pabal-Install-Secret", try #require(made["installSecret"]?.string))
    let late = try await api.call(
      .delete, "/v1/devices/install:i_1?epoch=2", key: TestAPI.publishable, headers: [secret])
    #expect(late["status"]?.string == "superseded")
    #expect(late["userId"]?.string == "u")
    #expect(late["epoch"]?.int == 3)
    let wrong = try await api.call(
      .delete, "/v1/devices/install:i_1?epoch=4", key: TestAPI.publishable,
      headers: [HTTPField("Pabal-Install-Secret", "x")])
    #expect(wrong.status == 403)
    #expect(wrong.code == "install_secret_wrong")
    let done = try await api.call(
      .delete, "/v1/devices/install:i_1?epoch=4", key: TestAPI.publishable, headers: [secret])
    #expect(done["status"]?.string == "signedOut")
    #expect(done["userId"]?.isNull == true)
    #expect(try await api.talentRequest("u").success == false)
    let old = try await api.call(.put, "/v1/devices", Self.body(epoch: 3), key: TestAPI.publishable)
    #expect(old.status == 200)
    #expect(old["status"]?.string == "superseded")
    #expect(old["epoch"]?.int == 4, "an install that fell behind must learn where to go on")
    let absent = try await api.call(
      .delete, "/v1/devices/install:i_2", key: TestAPI.publishable, headers: [secret])
    #expect(absent["status"]?.string == "absent")
  }

  @Test("a null user keeps the device and needs the secret once the install has shown it")
  func nullUser() async throws {
    let api = try await TestAPI()
    let made = try await api.call(.put, "/v1/devices", Self.body(), key: TestAPI.publishable)
    let secret = HTTPField("Pabal-Install-Secret", try #require(made["installSecret"]?.string))
    try await api.call(.put, "/v1/devices", Self.body(), key: TestAPI.publishable, headers: [secret])
    let refused = try await api.call(
      .put, "/v1/devices", Self.body(user: "null", epoch: 2), key: TestAPI.publishable)
    #expect(refused.status == 403)
    let out = try await api.call(
      .put, "/v1/devices", Self.body(user: "null", epoch: 2), key: TestAPI.publishable, headers: [secret])
    #expect(out.status == 200)
    #expect(out["userId"]?.isNull == true)
    #expect(out["id"]?.string == made["id"]?.string)
  }

  @Test("a rotated token replaces the old one: one device, one push")
  func rotation() async throws {
    let api = try await TestAPI()
    try await api.call(.put, "/v1/devices", Self.body(), key: TestAPI.publishable)
    try await api.call(
      .put, "/v1/devices", Self.body(token: "\"\(TestAPI.token(9))\""), key: TestAPI.publishable)
    #expect(try await api.talentRequest("u")["devices"]?.int == 1)
    #expect(api.sent.withLock { $0.map(\.token.hex) } == [TestAPI.token(9)])
  }

  @Test(
    "a wrong body names its member and stores nothing",
    arguments: [
      (#"{"userId":"u","platform":"ios","token":null}"#, "parameter_missing", "token"),
      (#"{"installId":"i 1","userId":"u","platform":"ios"}"#, "parameter_invalid", "installId"),
      (#"{"installId":"i","platform":"ios"}"#, "parameter_missing", "userId"),
      (#"{"installId":"i","userId":7,"platform":"ios"}"#, "parameter_invalid", "userId"),
      (#"{"installId":"i","userId":"u","platform":"ios","epoch":-1}"#, "parameter_invalid", "epoch"),
      (#"{"installId":"i","userId":"u","platform":"ios","tokn":"x"}"#, "parameter_unknown", "tokn"),
      (
        #"{"installId":"i","userId":"u","platform":"ios","capabilities":{"camera":true}}"#, "parameter_unknown",
        "capabilities.camera"
      ),
      (#"{"installId":"i","userId":"u","platform":"ios","bundleId":"a b"}"#, "parameter_invalid", "bundleId"),
      (#"{"installId":"i","userId":"u","platform":"ios","permission":"yes"}"#, "parameter_invalid", "permission"),
    ])
  func wrong(_ body: String, _ code: String, _ parameter: String) async throws {
    let api = try await TestAPI()
    let reply = try await api.call(.put, "/v1/devices", body, key: TestAPI.publishable)
    #expect(reply.status == 400)
    #expect(reply.code == code)
    #expect(reply.json["error"]?["param"]?.string == parameter)
    #expect(try await api.storage.counts(in: AppMode(app: 1, mode: .test)).users == 0)
  }

  @Test func readAndDeleteById() async throws {
    let api = try await TestAPI()
    let id = try #require(try await api.register("u")["deviceId"]?.string)
    #expect(try await api.call(.get, "/v1/devices/\(id)")["id"]?.string == id)
    #expect(try await api.call(.delete, "/v1/devices/\(id)")["deleted"]?.bool == true)
    #expect(try await api.talentRequest("u").success == false)
    let missing = try await api.call(.get, "/v1/devices/dev_none")
    #expect(missing.status == 404)
    #expect(missing.code == "device_not_found")
  }

  @Test("a stand-in that does not take the token: 503, and the client sends it again")
  func adoptionFails() async throws {
    let storage = MemoryStorage(randomness: .seeded(1))
    let api = try await TestAPI(storage: storage, adoptionFails: true)
    let reply = try await api.register("u")
    #expect(reply.status == 503)
    #expect(reply.code == "unavailable")
    #expect(reply.headers.contains(HTTPField("Retry-After", "1")))
  }
}
