import PabalModel
import PabalPrimitives
import PabalServer
import Storage
import StorageConformance
import Testing

/// A store that refuses writes for a while, as a full disk does.
@Suite struct ServerFullDiskTests {
  private static let full = StorageError(.readOnly, "The disk takes no more writes.")

  @Test func `outcomes that the store refuses at first are kept and recorded later`() async throws {
    let refusals = Locked(3)
    var configuration = UpConfiguration(folder: .ephemeral, port: 0)
    configuration.storeLayer = { store in
      var layer = StorageLayer(over: store)
      layer.recording = { inner, outcomes throws(StorageError) in
        let isFull = refusals.withLock { left in
          left -= 1
          return left >= 0
        }
        if isFull { throw Self.full }
        return try await inner.recordOutcomes(outcomes)
      }
      return layer
    }
    try await withServer(configuration) { stage in
      let sent = try await stage.talentRequest(to: "demo-alex", id: "1")
      #expect(try sent.json()["sent"]?.int == 1, "\(sent.text)")
      #expect(try await stage.inbox().count == 1)
      let metrics = try await ServerCaller(stage.line.metrics)("GET", "/metrics").text
      #expect(metrics.contains(#"pabal_store_failures_total{code="store_read_only"} 3"#))
    }
  }

  @Test func `a message that cannot be written is refused, and nothing is sent`() async throws {
    let isFull = Locked(true)
    var configuration = UpConfiguration(folder: .ephemeral, port: 0)
    configuration.storeLayer = { store in
      var layer = StorageLayer(over: store)
      layer.accepting = { inner, acceptance throws(StorageError) in
        if isFull.withLock({ $0 }) { throw Self.full }
        return try await inner.accept(acceptance)
      }
      return layer
    }
    try await withServer(configuration) { stage in
      let refused = try await stage.talentRequest(to: "demo-alex", id: "1")
      #expect(refused.status >= 500, "\(refused.text)")
      #expect(try refused.json()["success"]?.bool == false)
      #expect(try await stage.wireLog().isEmpty)
      isFull.withLock { $0 = false }
      let sent = try await stage.talentRequest(to: "demo-alex", id: "1")
      #expect(try sent.json()["sent"]?.int == 1, "the refused call left no dedupe claim: \(sent.text)")
    }
  }

  @Test func `a stop does not wait for a store that refuses for ever`() async throws {
    var configuration = UpConfiguration(folder: .ephemeral, port: 0, grace: .milliseconds(100))
    configuration.storeLayer = { store in
      var layer = StorageLayer(over: store)
      layer.recording = { _, _ throws(StorageError) in throw Self.full }
      return layer
    }
    try await withServer(configuration) { stage in
      let posted = try await stage.api(
        "POST", "/v1/messages", ["to": ["userIds": ["demo-alex"]], "content": ["title": "안녕", "body": "하나"]])
      #expect(posted.status == 202, "\(posted.text)")
    }
  }
}
