import HTTPServer
import PabalPrimitives
import Simulator
import Testing

@Suite struct ControlTests {
  let control: ControlBench

  init() throws {
    control = try ControlBench()
  }

  @Test("POST mints a device: id and 64 hex digits of token") func mint() async throws {
    let (status, json) = try await control.call(
      .post, "/devices", #"{"topic":"com.example.new","environment":"production"}"#)
    #expect(status == 201)
    let id = try #require(json?["id"]?.string)
    #expect(json?["token"]?.string?.count == 64)
    #expect(json?["environment"]?.string == "production")
    #expect(json?["topic"]?.string == "com.example.new")
    #expect(json?["state"]?.string == "registered")
    #expect(json?["unregisteredAt"]?.isNull == true)
    #expect(json?["online"]?.bool == true)
    let read = try await control.call(.get, "/devices/\(id)")
    #expect(read.status == 200)
    #expect(read.json?["token"]?.string == json?["token"]?.string)
  }

  @Test("POST without a body mints a sandbox device of the topic by default") func mintDefault() async throws {
    let (status, json) = try await control.call(.post, "/devices")
    #expect(status == 201)
    #expect(json?["topic"]?.string == PushBench.topic)
    #expect(json?["environment"]?.string == "sandbox")
  }

  @Test("POST adopts a given id and token; again it is the same device, still uninstalled") func adopt() async throws {
    let body = #"{"id":"dev-1","token":"00FF","topic":"com.example.app","environment":"sandbox"}"#
    #expect(try await control.call(.post, "/devices", body).json?["token"]?.string == "00ff")
    let gone = try await control.call(
      .patch, "/devices/dev-1", #"{"state":"unregistered","unregisteredAt":1799568000000}"#)
    #expect(gone.json?["unregisteredAt"]?.int == 1_799_568_000_000)
    let again = try await control.call(.post, "/devices", body)
    #expect(again.status == 201)
    #expect(again.json?["state"]?.string == "unregistered")
    #expect(again.json?["unregisteredAt"]?.int == 1_799_568_000_000)
    let other = try await control.call(.post, "/devices", #"{"id":"dev-1","token":"01"}"#)
    #expect(other.status == 409)
    #expect(other.json?["error"]?["code"]?.string == "id_taken")
  }

  @Test("a missing unregisteredAt is the stand-in's now") func uninstall() async throws {
    let (_, json) = try await control.call(.patch, "/devices/phone", #"{"state":"unregistered"}"#)
    #expect(json?["unregisteredAt"]?.int == 1_800_000_000_000)
    let back = try await control.call(.patch, "/devices/phone", #"{"state":"registered"}"#)
    #expect(back.json?["unregisteredAt"]?.isNull == true)
  }

  @Test("count mints many, lists page by cursor, token finds one") func many() async throws {
    let made = try await control.call(.post, "/devices", #"{"count":25}"#)
    #expect(made.json?["data"]?.elements.count == 25)
    var ids: [String] = []
    var cursor: String?
    repeat {
      let query = cursor.map { "&cursor=\($0)" } ?? ""
      let page = try await control.call(.get, "/devices?limit=10\(query)")
      ids += page.json?["data"]?.elements.compactMap { $0["id"]?.string } ?? []
      cursor = page.json?["nextCursor"]?.string
    } while cursor != nil
    #expect(ids.count == 26)
    #expect(Set(ids).count == 26)
    let found = try await control.call(.get, "/devices?token=\(PushBench.hex.uppercased())")
    #expect(found.json?["data"]?.elements.map { $0["id"]?.string } == ["phone"])
    #expect(try await control.call(.get, "/devices?token=00").json?["data"]?.elements.isEmpty == true)
  }

  @Test("DELETE forgets; the next call is 404") func delete() async throws {
    #expect(try await control.raw(.delete, "/devices/phone").status == 204)
    for (method, path) in [(HTTPMethod.get, ""), (.patch, ""), (.delete, ""), (.get, "/stream")] {
      let body = method == .patch ? #"{"online":true}"# : ""
      let (status, json) = try await control.call(method, "/devices/phone\(path)", body)
      #expect(status == 404)
      #expect(json?["error"]?["code"]?.string == "device_not_found")
    }
  }

  @Test("the inbox has each push byte for byte, by device or token") func inbox() async throws {
    let payload = #"{"aps":{"alert":"한 👍🏽"},"n":1.50,"z":"\/"}"#
    let answer = try control.push(stream: 1) { call in
      call.body = Array(payload.utf8)
      (call.priority, call.expiration, call.collapseID) = ("5", "1800000100", "c")
    }
    for query in ["", "?device=phone", "?token=\(PushBench.hex)"] {
      let response = try await control.raw(.get, "/inbox\(query)")
      let bytes = try #require(response.bytes)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.contains("\"payload\":\(payload),"))
      let item = try #require(try JSONSlice(parsing: bytes)["data"]?.elements.first)
      #expect(item["id"]?.string == "in_1")
      #expect(item["device"]?.string == "phone")
      #expect(item["apnsId"]?.string == answer.header("apns-id"))
      #expect(item["apnsUniqueId"]?.string == answer.header("apns-unique-id"))
      #expect(item["topic"]?.string == PushBench.topic)
      #expect(item["pushType"]?.string == "alert")
      #expect(item["priority"]?.int == 5)
      #expect(item["expiration"]?.int == 1_800_000_100)
      #expect(item["collapseId"]?.string == "c")
      #expect(item["receivedAt"]?.int == 1_800_000_000_000)
      #expect(item["payloadBase64"]?.string == Base64.encode(Array(payload.utf8)))
      #expect(item["state"]?.string == "displayed")
    }
    for query in ["?device=other", "?token=00", "?device=phone&cursor=1"] {
      #expect(try await control.call(.get, "/inbox\(query)").json?["data"]?.elements.isEmpty == true)
    }
  }

  @Test("requests are filtered by each field, and paged") func requests() async throws {
    let other = control.core.withLock { $0.connectionOpened(.production) }
    for stream in 0..<3 as Range<Int32> { _ = try control.push(stream: stream * 2 + 1) }
    _ = try control.push(stream: 7) { $0.priority = "3" }
    _ = control.core.withLock { $0.handle(StandInRequest(connection: other, stream: 1, headers: [], body: [])) }
    let expected = [
      "": 5, "?device=phone": 4, "?token=\(PushBench.hex)": 4, "?status=200": 3, "?status=400": 1,
      "?connection=2": 1, "?reason=BadPriority": 1, "?since=1800000000000": 5, "?since=1800000000001": 0,
      "?device=none": 0, "?cursor=3": 2,
    ]
    for (query, count) in expected {
      #expect(try await control.call(.get, "/requests\(query)").json?["data"]?.elements.count == count, "\(query)")
    }
    let page = try await control.call(.get, "/requests?limit=2")
    #expect(page.json?["nextCursor"]?.string == "2")
    #expect(page.json?["dropped"]?.int == 0)
    let entry = try #require(page.json?["data"]?.elements.first)
    #expect(entry["connection"]?.int == 1)
    #expect(entry["stream"]?.int == 1)
    #expect(entry["bodyBytes"]?.int == 25)
    #expect(entry["status"]?.int == 200)
    #expect(entry["reason"]?.isNull == true)
    #expect(entry["faultRule"]?.isNull == true)
    #expect(entry["taken"]?.bool == true)
    #expect(entry["at"]?.int == 1_800_000_000_000)
    let authorization = entry["headers"]?.elements.first { $0.elements.first?.string == "authorization" }
    #expect(authorization?.elements.last?.string?.hasPrefix("sha256:") == true)
  }

  @Test("stats are exact") func stats() async throws {
    _ = try control.push(stream: 1)
    _ = try control.push(stream: 3) { $0.priority = "3" }
    let json = try await control.call(.get, "/stats").json
    #expect(json?["taken"]?.int == 1)
    #expect(json?["requests"]?.int == 2)
    #expect(json?["byStatus"]?["200"]?.int == 1)
    #expect(json?["byStatus"]?["400"]?.int == 1)
    #expect(json?["byReason"]?["BadPriority"]?.int == 1)
    #expect(json?["connections"]?.int == 1)
    #expect(json?["providerTokens"]?.int == 1)
  }

  @Test("PUT replaces all fault rules and tells how often each fired") func faults() async throws {
    let body = #"""
      {"seed":7,"rules":[
        {"match":{"device":"phone","nth":1},"times":2,"then":{"status":503,"reason":"Shutdown","delayMs":5}},
        {"match":{"token":"AA","environment":"sandbox","path":"/x","connection":3,"every":2,"rate":0.5},
         "then":{"goaway":{"lastStream":"all","reason":"Shutdown","close":"now"}}},
        {"then":{"reset":{"code":"CANCEL","after":"taken"}}},{"then":{"drop":"afterTaken"}},
        {"then":{"silenceMs":60000}},{"then":{"maxConcurrentStreams":1}},{"then":{"delayMs":10}},
        {"then":{"status":410,"timestamp":5}},{"then":{"goaway":{"debug":"not json","lastStream":"none"}}},
        {"then":{"halfResponse":true}},{"then":{"slowRead":{"bytesPerSecond":100},"delayMs":7}},
        {"then":{"reset":{"code":"NO_ERROR","after":"headers"}}}]}
      """#
    let (status, json) = try await control.call(.put, "/faults", body)
    #expect(status == 200)
    #expect(json?["seed"]?.int == 7)
    let rules = try #require(json?["rules"]?.elements)
    #expect(rules.count == 12)
    #expect(rules[0]["then"]?["delayMs"]?.int == 5)
    #expect(rules[0]["times"]?.int == 2)
    #expect(rules[1]["match"]?["token"]?.string == "aa")
    #expect(rules[1]["match"]?["rate"]?.double == 0.5)
    #expect(rules[1]["then"]?["goaway"]?["close"]?.string == "now")
    #expect(rules[1]["then"]?["goaway"]?["reason"]?.string == "Shutdown")
    #expect(rules[9]["then"]?["halfResponse"]?.bool == true)
    #expect(rules[10]["then"]?["slowRead"]?["bytesPerSecond"]?.int == 100)
    #expect(rules[10]["then"]?["delayMs"]?.int == 7)
    #expect(rules[11]["then"]?["reset"]?["after"]?.string == "headers")
    #expect(rules[2]["then"]?["reset"]?["code"]?.string == "CANCEL")
    #expect(rules[3]["then"]?["drop"]?.string == "afterTaken")
    #expect(rules[7]["then"]?["reason"]?.string == "Unregistered")
    #expect(rules[8]["then"]?["goaway"]?["debug"]?.string == "not json")
    #expect(rules.allSatisfy { $0["fired"]?.int == 0 })
    let answer = try control.push(stream: 1)
    #expect(answer.status == 503)
    #expect(answer.reason == "Shutdown")
    #expect(try await control.call(.get, "/faults").json?["rules"]?.elements.first?["fired"]?.int == 1)
    #expect(try await control.call(.put, "/faults", #"{"rules":[]}"#).json?["rules"]?.elements.isEmpty == true)
    #expect(try control.push(stream: 3).status == 200)
  }

  @Test(
    "a fault rule that cannot be meant is 400, and the old rules stay",
    arguments: [
      "", "{}", "[]", #"{"rules":[{}]}"#, #"{"rules":[{"then":{}}]}"#, #"{"rules":{}}"#,
      #"{"rules":[{"then":{"status":503,"drop":"afterTaken"}}]}"#, #"{"rules":[{"then":{"status":99}}]}"#,
      #"{"rules":[{"then":{"drop":"sometimes"}}]}"#, #"{"rules":[{"then":{"halfResponse":false}}]}"#,
      #"{"rules":[{"then":{"slowRead":{"bytesPerSecond":0}}}]}"#, #"{"rules":[{"then":{"silenceMs":"PT60S"}}]}"#,
      #"{"rules":[{"then":{"slowRead":{}}}]}"#, #"{"rules":[{"then":{"slowRead":100}}]}"#,
      #"{"rules":[{"then":{"reset":{"code":"NONE"}}}]}"#, #"{"rules":[{"then":{"reset":{"after":"answer"}}}]}"#,
      #"{"rules":[{"then":{"goaway":{"close":"later"}}}]}"#, #"{"rules":[{"then":{"goaway":{"x":1}}}]}"#,
      #"{"rules":[{"then":{"goaway":{"reason":"Shutdown","debug":"x"}}}]}"#, #"{"seed":-1,"rules":[]}"#,
      #"{"rules":[{"then":{"drop":"afterTaken","reason":"x"}}]}"#, #"{"rules":[],"more":1}"#,
      #"{"rules":[{"match":{"rate":2},"then":{"status":503}}]}"#,
      #"{"rules":[{"match":{"nth":0},"then":{"status":503}}]}"#,
      #"{"rules":[{"match":{"token":"xyz"},"then":{"status":503}}]}"#,
      #"{"rules":[{"match":{"host":"x"},"then":{"status":503}}]}"#, #"{"rules":[{"times":0,"then":{"status":503}}]}"#,
      #"{"rules":[],"rules":[]}"#, "not json",
    ])
  func badFaults(_ body: String) async throws {
    _ = try await control.call(.put, "/faults", #"{"rules":[{"then":{"status":503}}]}"#)
    let (status, json) = try await control.call(.put, "/faults", body)
    #expect(status == 400)
    #expect(json?["error"]?["type"]?.string == "invalid_request")
    #expect(json?["error"]?["message"]?.string?.isEmpty == false)
    #expect(try control.push(stream: 1).status == 503)
  }

  @Test(
    "an unknown or wrong field is 400 with its name",
    arguments: [
      (HTTPMethod.post, "/devices", #"{"tokn":"aa"}"#, "tokn"), (.post, "/devices", #"{"token":"abc"}"#, "token"),
      (.post, "/devices", #"{"environment":"staging"}"#, "environment"), (.post, "/devices", #"{"count":0}"#, "count"),
      (.post, "/devices", #"{"count":2,"id":"x"}"#, "count"), (.post, "/devices", #"{"id":"a b"}"#, "id"),
      (.post, "/devices", #"{"topic":""}"#, "topic"), (.post, "/devices", #"{"online":"yes"}"#, "online"),
      (.patch, "/devices/phone", #"{"token":"aa"}"#, "token"), (.patch, "/devices/phone", "{}", "state"),
      (.patch, "/devices/phone", #"{"state":"gone"}"#, "state"),
      (.patch, "/devices/phone", #"{"unregisteredAt":1}"#, "state"),
      (.get, "/devices?page=2", "", "page"), (.get, "/devices?limit=1001", "", "limit"),
      (.get, "/inbox?device=phone&token=aa", "", "token"), (.get, "/inbox?device=phone&device=x", "", "device"),
      (.get, "/requests?status=ok", "", "status"), (.get, "/stats?x=1", "", "x"),
      (.post, "/clock", #"{"advanceMs":"1s"}"#, "advanceMs"), (.post, "/clock", #"{"mode":"slow"}"#, "mode"),
      (.post, "/clock", #"{"advanceMs":1,"set":2}"#, "body"), (.post, "/reset", #"{"all":true}"#, "all"),
      (.get, "/media/sample.png?size=1", "", "size"), (.get, "/media/sample.png?status=99", "", "status"),
    ] as [(HTTPMethod, String, String, String)])
  func wrongFields(_ method: HTTPMethod, _ path: String, _ body: String, _ field: String) async throws {
    let (status, json) = try await control.call(method, path, body)
    #expect(status == 400)
    #expect(json?["error"]?["param"]?.string == field)
  }

  @Test("what is not there is 404", arguments: ["/nothing", "/inbox/in_1/tap", "/media/other.gif", "/devices/none"])
  func notFound(_ path: String) async throws {
    #expect(try await control.call(.get, path).status == 404)
  }

  @Test func clock() async throws {
    let start = try await control.call(.get, "/clock").json
    #expect(start?["now"]?.int == 1_800_000_000_000)
    #expect(start?["mode"]?.string == "real")
    #expect(
      try await control.call(.post, "/clock", #"{"advanceMs":1260000}"#).json?["now"]?.int == 1_800_001_260_000)
    let stopped = try await control.call(.post, "/clock", #"{"mode":"manual"}"#).json
    #expect(stopped?["mode"]?.string == "manual")
    #expect(try await control.call(.post, "/clock", #"{"set":5}"#).json?["now"]?.int == 5)
    #expect(try await control.call(.post, "/clock", #"{"mode":"real"}"#).json?["now"]?.int == 1_800_000_000_000)
  }

  @Test func reset() async throws {
    _ = try control.push(stream: 1)
    #expect(try await control.call(.post, "/reset").status == 200)
    #expect(try await control.call(.get, "/stats").json?["requests"]?.int == 0)
    #expect(try await control.call(.get, "/devices").json?["data"]?.elements.count == 1)
    #expect(try await control.call(.post, "/reset", #"{"devices":true}"#).status == 200)
    #expect(try await control.call(.get, "/devices").json?["data"]?.elements.isEmpty == true)
  }

  @Test func media() async throws {
    for (file, type) in [
      ("sample.png", "image/png"), ("sample.mp4", "video/mp4"), ("lying.png", "image/png"),
      ("truncated.png", "image/png"),
    ] {
      let response = try await control.raw(.get, "/media/\(file)?delayMs=40")
      #expect(response.status == 200)
      #expect(response.headers.first { $0.name == "Content-Type" }?.value == type)
      #expect(response.bytes == StandInMedia(rawValue: file)?.bytes)
    }
    #expect(control.waited.withLock { $0 } == [40, 40, 40, 40])
    let failing = try await control.raw(.get, "/media/sample.png?status=404")
    #expect(failing.status == 404)
    #expect(failing.bytes == [])
  }
}

extension ControlTests {
  @Test("every route describes itself: a unique id, its path parameters, a reply") func operations() {
    let routes = control.router.routes
    #expect(Set(routes.map(\.operation.id)).count == routes.count)
    for route in routes {
      let named = route.operation.parameters.filter { $0.location == .path }.map { "{\($0.name)}" }
      let inPath = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map(String.init)
      #expect(named == inPath)
      #expect(!route.operation.replies.isEmpty)
      #expect(route.path.hasPrefix("/v1/simulator/"))
    }
  }
}
