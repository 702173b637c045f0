#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import PabalModel
import PabalPrimitives
import PabalServer
import SQLiteStorage
import Storage
import TestSupport
import Testing

/// Start, stop, start again: what must survive, what must be refused.
@Suite struct ServerLifecycleTests {
  @Test func `a second server on the same folder prints the first one's links`() async throws {
    try await withTemporaryFolder { folder in
      try await withServer(UpConfiguration(folder: .kept(folder), port: 0)) { stage in
        guard case .alreadyRunning(let line) = try await UpServer.start(UpConfiguration(folder: .kept(folder), port: 0))
        else {
          Issue.record("two servers hold one folder")
          return
        }
        #expect(line.json.encodedText == stage.line.json.encodedText)
      }
    }
  }

  @Test func `after a restart keys, devices and the stand-in's names are the same, and pushes arrive`() async throws {
    try await withTemporaryFolder { folder in
      let configuration = UpConfiguration(folder: .kept(folder), port: 0)
      let phone = Locked<(id: String, token: String)?>(nil)
      let first = Locked<UpReadyLine?>(nil)
      try await withServer(configuration) { stage in
        let device = try await stage.mint()
        _ = try await stage.registerByGuide("u", token: device.token)
        phone.withLock { $0 = device }
        first.withLock { $0 = stage.line }
      }
      try await withServer(configuration) { stage in
        let before = try #require(first.withLock { $0 })
        #expect(stage.line.testKey == before.testKey)
        #expect(stage.line.publishableKey == before.publishableKey)
        #expect(stage.line.users == before.users)
        let device = try #require(phone.withLock { $0 })
        let known = try await stage.control("GET", "/v1/simulator/devices/\(device.id)")
        #expect(try known.json()["token"]?.string == device.token)
        #expect(try await stage.talentRequest(to: "u", id: "1").json()["sent"]?.int == 1)
      }
    }
  }

  @Test func `files with secrets are for their owner only, and an ephemeral folder is gone at the end`() async throws {
    let path = Locked("")
    try await withServer { stage in
      path.withLock { $0 = stage.line.data }
      for file in ["master.key", "profile.json", "lock", "pabal.sqlite", "pabal.sqlite-wal"] {
        #expect(permissions(stage.line.data + "/" + file) == 0o600, "\(file)")
      }
      #expect(permissions(stage.line.data) == 0o700)
    }
    #expect(permissions(path.withLock { $0 }) == nil)
  }

  @Test func `another master key is refused with what to do, and nothing is written`() async throws {
    try await withTemporaryFolder { folder in
      let configuration = UpConfiguration(folder: .kept(folder), port: 0)
      try await withServer(configuration) { _ in }
      let before = try TestFiles.read(folder + "/pabal.sqlite")
      try TestFiles.write(String(repeating: "ab", count: 32), to: folder + "/master.key")
      let error = await #expect(throws: UpError.self) { _ = try await UpServer.start(configuration) }
      #expect(error?.kind == .store)
      #expect(error?.message.contains("master.key") == true)
      let after = try TestFiles.read(folder + "/pabal.sqlite")
      #expect(after == before)
      unlink(folder + "/master.key")
      let missing = await #expect(throws: UpError.self) { _ = try await UpServer.start(configuration) }
      #expect(missing?.kind == .dataFolder)
    }
  }

  @Test func `marks without outcome end unknown after a restart, accepted pushes without a mark are sent`() async throws
  {
    try await withTemporaryFolder { folder in
      let configuration = UpConfiguration(folder: .kept(folder), port: 0)
      try await withServer(configuration) { _ in }
      let key = try #require(
        Hex.decode(String(decoding: try TestFiles.read(folder + "/master.key"), as: UTF8.self).filter { $0 != "\n" }))
      let storage = try await SQLitePushStorage.open(path: folder + "/pabal.sqlite", masterKey: key)
      let marked = try await Self.accept(on: storage, start: .marked)
      let repeatable = try await Self.accept(on: storage, start: .marked, collapseID: "c")
      let queued = try await Self.accept(on: storage, start: .queued)
      await storage.close()
      try await withServer(configuration) { stage in
        let lost = try await stage.api("GET", "/v1/messages/\(marked.rawValue)/deliveries").json()
        #expect(lost["data"]?.elements.map { $0["state"]?.string } == ["unknown"])
        #expect(lost["data"]?.elements.first?["reason"]?.string == "process_stopped")
        for message in [queued, repeatable] {
          let state = try await stage.finalState(of: message)
          #expect(state == "accepted")
        }
        #expect(try await stage.inbox().count == 2)
      }
    }
  }

  private struct NotAccepted: Error {}

  private static func accept(
    on storage: SQLitePushStorage, start: MessageAcceptance.Start, collapseID: String? = nil
  ) async throws -> MessageID {
    let appMode = try await storage.openApp(named: "demo", mode: .test)
    let snapshot = try await storage.snapshot(of: [UserID(rawValue: "demo-alex")], in: appMode)
    let member = try #require(snapshot.users.first)
    let now = Clock.system.wall()
    let identity = storage.reserveMessage(at: now)
    let push = OutgoingPush(payload: Array(#"{"aps":{"alert":"hello"}}"#.utf8), collapseID: collapseID)
    let acceptance = MessageAcceptance(
      appMode: appMode, identity: identity, type: "hello", typeVersion: 1, category: nil,
      frequencyClass: "transactional", source: "api", requestID: nil, content: Array("{}".utf8), createdAt: now,
      lifetime: nil, dedupe: nil, decisions: [AcceptedDecision(user: member.id, steps: [])],
      deliveries: member.devices.map { AcceptedDelivery(user: member.id, device: $0.number, push: push) },
      seenChange: snapshot.change, start: start)
    guard case .accepted = try await storage.accept(acceptance) else { throw NotAccepted() }
    return identity.id
  }

  @Test func `a stop lets what is in flight finish, commits it, and says draining meanwhile`() async throws {
    try await withTemporaryFolder { folder in
      let configuration = UpConfiguration(folder: .kept(folder), port: 0)
      guard case .running(let server) = try await UpServer.start(configuration) else { return }
      let stage = try ServerStage(server)
      // The push is with Apple while the stop comes, and the answer is 503, so the next process repeats it.
      let rules: JSONValue = ["rules": [["times": 1, "then": ["status": 503, "delayMs": 1500]]]]
      #expect(try await stage.control("PUT", "/v1/simulator/faults", rules).status == 200)
      let posted = try await stage.api(
        "POST", "/v1/messages", ["to": ["userIds": ["demo-alex"]], "content": ["title": "안녕", "body": "하나"]])
      #expect(posted.status == 202, "\(posted.text)")
      let message = try #require(try posted.json()["id"]?.string)
      let operations = try ServerCaller(stage.line.metrics)
      async let stopped: Void = server.stop()
      var words: Set<String> = []
      while let answer = try? await operations("GET", "/readyz") {
        words.insert("\(answer.status)")
        if answer.status == 503 { #expect(answer.text.contains("draining")) }
      }
      await stopped
      #expect(words.contains("503"))
      try await withServer(configuration) { stage in
        let state = try await stage.finalState(of: MessageID(rawValue: message))
        #expect(state == "accepted")
      }
    }
  }
}

/// The permission bits; `nil` when there is no such file.
private func permissions(_ path: String) -> UInt32? {
  var status = stat()
  return stat(path, &status) == 0 ? UInt32(status.st_mode & 0o777) : nil
}
