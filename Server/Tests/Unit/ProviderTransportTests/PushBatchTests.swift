import APNs
import PabalModel
import PabalPrimitives
import ProviderTransport
import Testing

@Suite("A batch of pushes")
struct PushBatchTests {
  private func payload(_ text: String) throws -> APNsPayload {
    try APNsPayload(checking: Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8), for: .alert)
  }

  private func head(_ topic: String, collapseID: String? = nil) throws -> APNsHead {
    try APNsHead(topic: Topic(rawValue: topic), pushType: .alert, collapseID: collapseID)
  }

  @Test("each push keeps its headers and body, whoever comes before it", arguments: [0, 1, 1000])
  func contents(reserved: Int) throws {
    let heads = [try head("com.example.a"), try head("com.example.b"), try head("com.example.a", collapseID: "c")]
    let payloads = [try payload("one"), try payload(String(repeating: "two", count: 200)), try payload("three")]
    let randomness = Randomness.seeded(5)
    var batch = PushBatch(reserving: reserved)
    var wanted: [(head: APNsHead, payload: APNsPayload)] = []
    for tag in 0..<300 as Range<UInt64> {
      let draw = randomness.uint64()
      let (head, payload) = (heads[Int(draw % 3)], payloads[Int(draw / 3 % 3)])
      let token = try #require(DeviceToken(bytes: randomness.fill(1 + Int(draw / 9 % 100))))
      let content = batch.content(head, payload)
      batch.append(
        to: token, content, tag: tag, apnsID: APNsID(random: randomness), terms: PushTerms(repeatsUnknown: false))
      wanted.append((head, payload))
    }
    #expect(batch.count == 300)
    for (index, push) in wanted.enumerated() {
      #expect(batch.contents(at: index).head == push.head)
      #expect(batch.contents(at: index).body == push.payload.bytes)
    }
  }

  @Test("tokens of every length and contents of their own reach the peer as they were put in")
  func reachesPeer() throws {
    let rig = try TransportRig(streams: 1000)
    defer { rig.end() }
    let randomness = Randomness.seeded(6)
    var batch = PushBatch()
    var wanted: [String: (topic: String, body: [UInt8], apnsID: String)] = [:]
    for tag in 0..<100 as Range<UInt64> {
      let token = try #require(DeviceToken(bytes: randomness.fill(1 + Int(tag))))
      let topic = "com.example.\(tag / 7)"
      let payload = try payload("number \(tag / 3)")
      let id = APNsID(random: randomness)
      let content = batch.content(try head(topic), payload)
      batch.append(to: token, content, tag: tag, apnsID: id, terms: PushTerms(repeatsUnknown: false))
      wanted["/3/device/" + token.hex] = (topic, payload.bytes, id.description)
    }
    rig.core.take(batch, id: 1, for: rig.sink)
    rig.run(for: .seconds(5)) { rig.sink.outcomes.count == 100 }
    #expect(rig.sink.outcomes.allSatisfy { $0.status == 200 && $0.reason == nil && $0.attempts == 1 })
    #expect(Set(rig.sink.outcomes.map(\.tag)) == Set(0..<100))
    #expect(rig.peer.requests.count == 100)
    for request in rig.peer.requests {
      let push = try #require(wanted[request.path])
      #expect(request.topic == push.topic)
      #expect(request.apnsID == push.apnsID)
      #expect(request.body == push.body)
    }
  }
}
