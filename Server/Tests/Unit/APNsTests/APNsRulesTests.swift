import APNs
import PabalModel
import PabalPrimitives
import TestSupport
import Testing

/// The client's tables against the one typed from Apple's pages, which the stand-in's tables are held against too.
@Suite struct APNsRulesTests {
  private let rules: JSONSlice

  init() throws {
    rules = try JSONSlice(parsing: try TestFiles.fixture("apns-rules.json"))
  }

  @Test("OC-29 each push type has its topic suffix") func pushTypes() throws {
    let rows = try #require(rules["pushTypes"]?.elements)
    #expect(rows.compactMap { $0["name"]?.string } == APNsPushType.known.map(\.rawValue))
    for row in rows {
      let type = APNsPushType(rawValue: try #require(row["name"]?.string))
      let suffix = try #require(row["topicSuffix"]?.string)
      let bundle = Topic(rawValue: "com.example.app")
      #expect(type.topic(for: bundle).rawValue == "com.example.app" + suffix)
      #expect(type.topic(for: type.topic(for: bundle)) == type.topic(for: bundle))
      #expect(type.maximumPayloadBytes == row["maximumPayloadBytes"]?.int)
      #expect(type.needsSigningKey == (row["certificate"]?.bool == false), "\(type.rawValue)")
      let refused = (row["refusedPriorities"]?.elements ?? []).compactMap(\.int)
      for priority in APNsPriority.known {
        let head = try? APNsHead(topic: bundle, pushType: type, priority: priority)
        #expect((head == nil) == refused.contains(priority.rawValue), "\(type.rawValue) \(priority.rawValue)")
      }
    }
  }

  @Test func priorities() throws {
    #expect(rules["priorities"]?.elements.compactMap(\.int) == APNsPriority.known.map(\.rawValue))
    #expect(throws: APNsRequestError.self) {
      try APNsHead(topic: Topic(rawValue: "a.b"), pushType: .alert, priority: APNsPriority(rawValue: 7))
    }
  }

  @Test func collapseIDs() throws {
    let limit = try #require(rules["collapseIdMaximumBytes"]?.int)
    let head = { (id: String) in try APNsHead(topic: Topic(rawValue: "a.b"), pushType: .alert, collapseID: id) }
    #expect(try head(String(repeating: "a", count: limit)).collapseID?.count == limit)
    for id in ["", String(repeating: "a", count: limit + 1), String(repeating: "한", count: 22), "a\nb", " a", "a "] {
      #expect(throws: APNsRequestError.self) { try head(id) }
    }
  }

  @Test func headerNames() throws {
    let names = Set((rules["headers"]?.elements ?? []).compactMap { $0["name"]?.string })
    let head = try APNsHead(
      topic: Topic(rawValue: "com.example.app"), pushType: .alert, priority: .conserving, expiration: .attemptOnce,
      collapseID: "c")
    #expect(Set(head.headers.map(\.name)).union(["authorization", "apns-id"]) == names)
    #expect(
      head.headers.map { "\($0.name): \($0.value)" } == [
        "apns-topic: com.example.app", "apns-push-type: alert", "apns-priority: 5", "apns-expiration: 0",
        "apns-collapse-id: c",
      ])
  }

  @Test func everyReasonHasItsVerdict() throws {
    let verdicts: [String: APNsVerdict] = [
      "request": .messageInvalid, "suspect": .tokenSuspect, "configuration": .configuration, "dead": .tokenDead,
      "connection": .retryOnNewConnection, "authentication": .reauthenticate, "later": .retryLater,
    ]
    let rows = try #require(rules["replies"]?.elements)
    #expect(rows.compactMap { $0["reason"]?.string } == APNsReason.table.map(\.reason.rawValue))
    for (row, ours) in zip(rows, APNsReason.table) {
      let status = try #require(row["status"]?.int)
      let reason = try #require(row["reason"]?.string)
      #expect(ours.status == status)
      let reply = APNsReply.classify(status: status, body: Array("{\"reason\":\"\(reason)\"}".utf8))
      #expect(reply.verdict == verdicts[try #require(row["class"]?.string)], "\(reason)")
      #expect(reply.reasonCode?.rawValue == "apns." + reason)
    }
  }

  @Test("OC-31 a topic is mandatory", arguments: ["", "com.example app", "com.example.앱"])
  func topicIsMandatory(topic: String) {
    #expect(throws: APNsRequestError.self) { try APNsHead(topic: Topic(rawValue: topic), pushType: .alert) }
  }
}
