import PabalModel
import PabalPrimitives
import SQLiteDriver
import SQLiteStorage
import Storage
import Testing

@Suite struct MasterKeyTests {
  @Test func `another master key is refused, and no byte of the file changes`() async throws {
    try await withStoreFile { path in
      let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      let appMode = try await storage.openApp(named: "demo", mode: .test)
      let token = try #require(DeviceToken(bytes: [UInt8](repeating: 3, count: 32)))
      _ = try await storage.register(Example.registration("u", token: token, in: appMode))
      await storage.close()
      let before = fileBytes(path)
      let wrong = [UInt8](repeating: 9, count: 32)
      let error = await #expect(throws: StorageError.self) {
        _ = try await SQLitePushStorage.open(path: path, masterKey: wrong)
      }
      #expect(error?.kind == .wrongMasterKey)
      #expect(error?.message.contains("master.key") == true)
      #expect(fileBytes(path) == before)
      let again = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      #expect(try await again.devices(of: UserID(rawValue: "u"), in: appMode).map(\.token) == [token])
      await again.close()
    }
  }

  @Test(arguments: [0, 16, 31, 33]) func `a key of another length is refused`(count: Int) async throws {
    try await withStoreFile { path in
      let error = await #expect(throws: StorageError.self) {
        _ = try await SQLitePushStorage.open(path: path, masterKey: [UInt8](repeating: 1, count: count))
      }
      #expect(error?.kind == .wrongMasterKey)
      #expect(fileBytes(path).isEmpty)
    }
  }

  @Test func `data of a newer program is refused`() async throws {
    try await withStoreFile { path in
      let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      await storage.close()
      let raw = try await SQLiteDatabase.open(path: path, readers: 0) { connection in
        try connection.run("INSERT INTO migration (version, at) VALUES (99, 0)")
      }
      await raw.close()
      let before = fileBytes(path)
      let error = await #expect(throws: StorageError.self) {
        _ = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      }
      #expect(error?.kind == .newerSchema)
      #expect(fileBytes(path) == before)
    }
  }

  @Test func `a sealed token that is moved to another row does not open`() async throws {
    try await withStoreFile { path in
      let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      let appMode = try await storage.openApp(named: "demo", mode: .test)
      for number in UInt8(1)...2 {
        let token = try #require(DeviceToken(bytes: [UInt8](repeating: number, count: 32)))
        _ = try await storage.register(Example.registration("u\(number)", token: token, in: appMode))
      }
      await storage.close()
      let raw = try await SQLiteDatabase.open(path: path, readers: 0) { connection in
        try connection.run("UPDATE device SET token = (SELECT token FROM device WHERE dev = 1) WHERE dev = 2")
      }
      await raw.close()
      let again = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      #expect(try await again.devices(of: UserID(rawValue: "u1"), in: appMode).count == 1)
      let error = await #expect(throws: StorageError.self) {
        _ = try await again.devices(of: UserID(rawValue: "u2"), in: appMode)
      }
      #expect(error?.kind == .corrupt)
      await again.close()
    }
  }
}
