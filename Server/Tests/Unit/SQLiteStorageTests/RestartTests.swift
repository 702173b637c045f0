import PabalModel
import PabalPrimitives
import SQLiteStorage
import Storage
import Testing

@Suite struct RestartTests {
  @Test func `after a restart devices, marks, queued pushes and numbers are where they were`() async throws {
    try await withStoreFile { path in
      let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      let appMode = try await storage.openApp(named: "demo", mode: .test)
      let token = try #require(DeviceToken(bytes: [UInt8](repeating: 4, count: 100)))
      let device = try await storage.register(Example.registration("u", token: token, in: appMode)).device
      let marked = try await Example.acceptance(to: "u", in: appMode, of: storage)
      _ = try await storage.accept(marked)
      let payload = Array(#"{"aps":{"alert":"두 번째"}}"#.utf8)
      let queued = try await Example.acceptance(to: "u", in: appMode, of: storage, payload: payload, start: .queued)
      _ = try await storage.accept(queued)
      await storage.close()

      let again = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      #expect(try await again.openApp(named: "demo", mode: .test) == appMode)
      #expect(try await again.device(device.id, in: appMode)?.token == token)
      #expect(try await again.openMarks().map(\.key.message) == [marked.identity.number])
      let claimed = try await again.claimQueued(limit: 10, at: Example.now).deliveries
      #expect(claimed.map(\.push.payload) == [payload])
      #expect(claimed.map(\.id) == [again.deliveryID(for: claimed[0].key)])
      #expect(again.reserveMessage(at: Example.now).number > queued.identity.number)
      await again.close()
    }
  }

  @Test func `ids of two stores with the same numbers differ`() async throws {
    var ids: [DeliveryID] = []
    for _ in 0..<2 {
      try await withStoreFile { path in
        let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
        ids.append(
          storage.deliveryID(for: DeliveryKey(message: MessageNumber(rawValue: 1), device: DeviceNumber(rawValue: 1))))
        await storage.close()
      }
    }
    #expect(ids[0] != ids[1])
  }
}
