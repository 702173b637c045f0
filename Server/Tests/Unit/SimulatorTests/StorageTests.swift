import PabalPrimitives
import Simulator
import Testing

@Suite struct StandInStorageTests {
  private func states(_ bench: PushBench) -> [String] { bench.inbox.map(\.state.rawValue) }

  @Test("one push is stored for an offline device, the newest; it is shown when the device comes back")
  func storesOne() throws {
    var bench = try PushBench()
    _ = try bench.core.setOnline(false, ofDevice: "phone")
    for text in ["1", "2", "3"] { try bench.send { $0.body = Array(#"{"n":\#(text)}"#.utf8) } }
    #expect(states(bench) == ["replaced", "replaced", "stored"])
    #expect(bench.core.statistics.taken == 3, "APNs took all three")
    _ = try bench.core.setOnline(true, ofDevice: "phone")
    #expect(states(bench) == ["replaced", "replaced", "displayed"])
  }

  @Test("one is stored per device and bundle id, whatever the topic's suffix") func perBundle() throws {
    var bench = try PushBench()
    _ = try bench.core.setOnline(false, ofDevice: "phone")
    try bench.send()
    try bench.send { ($0.pushType, $0.topic) = ("voip", PushBench.topic + ".voip") }
    #expect(states(bench) == ["replaced", "stored"])
  }

  @Test("a stored push past its time is listed as expired without its device coming back") func listedExpired() throws {
    var bench = try PushBench()
    _ = try bench.core.setOnline(false, ofDevice: "phone")
    try bench.send { $0.expiration = "1800000060" }
    #expect(bench.core.pushes(device: nil, after: 0, limit: 10).map(\.push.state) == [.stored])
    bench.core.advanceClock(milliseconds: 60_000)
    #expect(bench.core.pushes(device: nil, after: 0, limit: 10).map(\.push.state) == [.expired])
  }

  @Test("OC-34 expiration 0 is never stored, an absent one is, a passed one is not") func expirationZero() throws {
    var bench = try PushBench()
    _ = try bench.core.setOnline(false, ofDevice: "phone")
    let now = bench.clock.clock.wall().seconds
    #expect(try bench.send { $0.expiration = "0" }.status == 200)
    #expect(try bench.send { $0.expiration = "\(now - 10)" }.status == 200)
    #expect(try bench.send().status == 200)
    #expect(states(bench) == ["expired", "expired", "stored"])
    #expect(bench.inbox.map(\.expiration) == [0, now - 10, nil])
  }

  @Test("an online device gets a push of expiration 0") func zeroOnline() throws {
    var bench = try PushBench()
    try bench.send { $0.expiration = "0" }
    #expect(states(bench) == ["displayed"])
  }

  @Test("OC-33 a stored push runs out at its second; without a date after 30 days") func runsOut() throws {
    for (expiration, wait, state) in [
      ("1800086400", 86_399, "displayed"), ("1800086400", 86_400, "expired"),
      ("86400", 0, "expired"), (nil, 30 * 86_400 - 1, "displayed"), (nil, 30 * 86_400, "expired"),
    ] as [(String?, Int, String)] {
      var bench = try PushBench()
      _ = try bench.core.setOnline(false, ofDevice: "phone")
      try bench.send { $0.expiration = expiration }
      bench.clock.advance(by: .seconds(wait))
      _ = try bench.core.setOnline(true, ofDevice: "phone")
      #expect(states(bench) == [state], "\(expiration ?? "none") \(wait)")
    }
  }

  @Test("a newer push with the collapse id replaces what a self-playing device shows") func collapse() throws {
    var bench = try PushBench()
    try bench.send { $0.collapseID = "score" }
    try bench.send { $0.collapseID = "other" }
    try bench.send { $0.collapseID = "score" }
    #expect(states(bench) == ["replaced", "displayed", "displayed"])
  }

  @Test("an uninstalled device's stored pushes are gone") func uninstalled() throws {
    var bench = try PushBench()
    _ = try bench.core.setOnline(false, ofDevice: "phone")
    try bench.send()
    _ = try bench.core.setState(.unregistered(at: 1), ofDevice: "phone")
    #expect(states(bench) == ["expired"])
  }

  @Test("an inbox keeps the last hundred, and what is stored outlives what was shown") func inboxBound() throws {
    var bench = try PushBench()
    let token = try bench.bearer()
    _ = try bench.core.setOnline(false, ofDevice: "phone")
    try bench.send(authorization: token)
    for _ in 0..<150 { try bench.send(authorization: token) { $0.expiration = "0" } }
    #expect(bench.inbox.count == 100)
    #expect(bench.inbox.count { $0.state == .stored } == 1)
    #expect(bench.inbox.first?.sequence == 1)
    #expect(bench.core.pushesDropped == 51)
    #expect(bench.core.statistics.taken == 151)
  }

  @Test("adopting a known device again changes nothing: an uninstalled one stays so") func adoptAgain() throws {
    var bench = try PushBench()
    _ = try bench.core.setState(.unregistered(at: 4), ofDevice: "phone")
    var draft = StandInDeviceDraft(topic: PushBench.topic)
    (draft.id, draft.token) = ("phone", PushBench.token)
    #expect(try bench.core.addDevice(draft).state == .unregistered(at: 4))
    draft.id = nil
    #expect(try bench.core.addDevice(draft).id == "phone")
    draft.topic = "com.example.other"
    #expect(throws: StandInDeviceFault.tokenTaken) { try bench.core.addDevice(draft) }
    draft = StandInDeviceDraft(topic: PushBench.topic)
    draft.id = "phone"
    #expect(throws: StandInDeviceFault.idTaken) { try bench.core.addDevice(draft) }
    #expect(try bench.core.addDevice(StandInDeviceDraft(topic: PushBench.topic)).token.count == 32)
  }

  @Test("a deleted device is unknown, and its place is used again") func delete() throws {
    var bench = try PushBench()
    _ = try bench.core.removeDevice("phone")
    #expect(try bench.send().reason == "BadDeviceToken")
    #expect(bench.core.devices(from: 0, limit: 10).page.isEmpty)
    let next = try bench.core.addDevice(StandInDeviceDraft(topic: PushBench.topic))
    #expect(bench.core.devices(from: 0, limit: 10).page.map(\.id) == [next.id])
    #expect(throws: StandInDeviceFault.unknownDevice) { try bench.core.removeDevice("phone") }
  }

  @Test("the wire log is bounded in number and bytes; counters stay exact") func wireLog() throws {
    #expect(StandInRules().wireLogRequests == 10_000)
    #expect(StandInRules().wireLogBytes == 32 << 20)
    var rules = StandInRules()
    (rules.wireLogRequests, rules.wireLogBytes) = (100, 200_000)
    var bench = try PushBench(rules)
    let filler = String(repeating: "x", count: 12_000)
    for _ in 0..<300 {
      try bench.send { $0.further = [StandInHeader("x-filler", filler)] }
    }
    let kept = bench.core.requests(after: 0, limit: 10_000) { _ in true }
    #expect(kept.count + bench.core.requestsDropped == 300)
    #expect(kept.count == 15)
    #expect(kept.last?.sequence == 300)
    #expect(bench.core.statistics.requests == 300)
    for _ in 0..<400 { try bench.send() }
    #expect(bench.core.requests(after: 0, limit: 20_000) { _ in true }.count == 100)
    #expect(bench.core.requestsDropped == 600)
  }

  @Test("the wire log has the headers in order and no provider token") func wireLogEntry() throws {
    var bench = try PushBench()
    let token = try bench.bearer()
    try bench.send(authorization: token) { $0.id = "?" }
    try bench.send(authorization: "bearer secret")
    let entries = bench.core.requests(after: 0, limit: 10) { _ in true }
    #expect(
      entries.first?.headers.map(\.name) == [
        ":method", ":scheme", ":path", ":authority", "authorization", "apns-topic", "apns-push-type", "apns-id",
      ])
    let values = entries.flatMap(\.headers).filter { $0.name == "authorization" }.map(\.value)
    #expect(values == ["sha256:\(PushBench.digest(token))", "sha256:\(PushBench.digest("bearer secret"))"])
    #expect(entries.map(\.reason) == ["BadMessageId", "InvalidProviderToken"])
    #expect(entries.map(\.device) == ["phone", "phone"])
    #expect(entries.map(\.taken) == [false, false])
  }

  @Test("reset forgets what happened and keeps the devices, or not") func reset() throws {
    var bench = try PushBench()
    try bench.send()
    bench.core.setFaults([FaultRule(effect: .drop(.beforeTaken))], seed: 3)
    bench.core.advanceClock(milliseconds: 5)
    _ = bench.core.reset(devicesToo: false)
    #expect(bench.core.statistics.requests == 0)
    #expect(bench.core.statistics.openConnections == 1)
    #expect(bench.core.activeFaults.isEmpty)
    #expect(bench.core.now == bench.clock.clock.wall().milliseconds)
    #expect(bench.inbox.isEmpty)
    #expect(try bench.send().status == 200)
    _ = bench.core.reset(devicesToo: true)
    #expect(try bench.send().reason == "BadDeviceToken")
    #expect(bench.core.connectionOpened(.sandbox).rawValue == 2, "numbers are never given twice")
  }

  @Test("the stand-in's clock moves what it judges by time") func clock() throws {
    var bench = try PushBench()
    let token = try bench.bearer()
    bench.core.stopClock()
    bench.clock.advance(by: .seconds(10_000))
    #expect(try bench.send(authorization: token).status == 200)
    bench.core.advanceClock(milliseconds: 3_601_000)
    #expect(try bench.send(authorization: token).reason == "ExpiredProviderToken")
    bench.core.setClock(milliseconds: 1_800_000_000_000)
    #expect(try bench.send(authorization: token).status == 200)
    #expect(bench.core.clockIsManual)
    bench.core.runClock()
    #expect(try bench.send(authorization: token).reason == "ExpiredProviderToken")
  }
}

extension StandInStorageTests {
  @Test("all inboxes together are bounded in bytes; the oldest pushes go first") func allInboxes() throws {
    #expect(StandInRules().inboxBytes == 128 << 20)
    var rules = StandInRules()
    rules.inboxBytes = 1 << 20
    var bench = try PushBench(rules)
    let tokens = try (0..<40).map { _ in try bench.core.addDevice(StandInDeviceDraft(topic: PushBench.topic)).token }
    let body = ReasonTests.payload(bytes: 4096)
    for _ in 0..<20 {
      for token in tokens {
        try bench.send { ($0.path, $0.body) = ("/3/device/" + Hex.encode(token), body) }
      }
    }
    let kept = bench.core.pushes(device: nil, after: 0, limit: .max)
    #expect(kept.count + bench.core.pushesDropped == 800)
    #expect(kept.count * 4096 <= 1 << 20)
    #expect(kept.count * 4096 > 900_000)
    #expect(kept.first?.push.sequence == 801 - kept.count)
  }

  @Test("many pushes to one device leave no trace but its last hundred") func oneDevice() throws {
    var bench = try PushBench()
    for _ in 0..<1500 { try bench.send() }
    _ = bench.core.reset(devicesToo: false)
    for _ in 0..<1500 { try bench.send() }
    #expect(bench.inbox.count == 100)
    #expect(bench.inbox.first?.sequence == 2901)
    #expect(bench.core.pushesDropped == 1400)
  }
}
