import PabalModel
import PabalPrimitives
import Storage

extension ConformanceSuite {
  static let registry: [ConformanceCheck] = [
    ConformanceCheck(
      "a device is taken from its user by its id, with a token or without; then there is nothing to take"
    ) {
      storage in
      let stage = try await StorageStage(storage)
      let plain = try await stage.register("u", token: StorageStage.token(1)).device
      let install = try await stage.register("u", token: StorageStage.token(2), install: "i").device
      let bare = try await stage.register("u", token: nil, install: "bare").device
      for device in [plain, install, bare] {
        let before = try await storage.release(device.id, in: stage.appMode, at: StorageStage.start)
        try expectEqual(before?.user?.rawValue, "u")
        let again = try await storage.release(device.id, in: stage.appMode, at: StorageStage.start)
        try expect(again == nil, "nothing more to take")
      }
      try expectEqual(try await stage.devices(of: "u").count, 0)
      try expect(try await storage.device(plain.id, in: stage.appMode) == nil, "it was nothing but its token")
      for device in [install, bare] {
        let kept = try unwrap(try await storage.device(device.id, in: stage.appMode), "the install")
        try expect(kept.user == nil && kept.token == device.token, "an install keeps its row")
      }
      let live = try await storage.openApp(named: "demo", mode: .live)
      let other = try await storage.release(install.id, in: live, at: StorageStage.start)
      try expect(other == nil, "another mode's device")
    },
    ConformanceCheck("a first registration creates, the same again is unchanged but writes its time") { storage in
      let stage = try await StorageStage(storage)
      let first = try await stage.register("jiwon", token: StorageStage.token(1))
      try expectEqual(first.status, .created)
      try expect(first.installSecret == nil, "a guide client has no install, so no secret")
      let again = try await stage.register("jiwon", token: StorageStage.token(1), at: 60)
      try expectEqual(again.status, .unchanged)
      try expectEqual(again.device.id, first.device.id)
      let stored = try unwrap(await storage.device(first.device.id, in: stage.appMode), "the device")
      try expectEqual(stored.registeredAt, StorageStage.time(60))
      try expectEqual(stored.createdAt, StorageStage.time(0))
    },
    ConformanceCheck("OC-40: 20 parallel equal registrations make one row with one id") { storage in
      let stage = try await StorageStage(storage)
      let token = try StorageStage.token(2)
      let results = try await withThrowingTaskGroup(of: RegistrationResult.self) { group in
        for _ in 0..<20 { group.addTask { try await stage.register("u", token: token) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try expectEqual(Set(results.map(\.device.id)).count, 1)
      try expectEqual(results.count { $0.status == .created }, 1)
      try expectEqual(try await stage.devices(of: "u").count, 1)
      try expectEqual(try await stage.send(to: ["u"]).count, 1)
    },
    ConformanceCheck("OC-43: a rotated token replaces the old one in the same row") { storage in
      let stage = try await StorageStage(storage)
      let (t1, t2) = (try StorageStage.token(1), try StorageStage.token(2))
      let first = try await stage.register("u1", token: t1, install: "d1")
      let second = try await stage.register("u1", token: t2, install: "d1", at: 9)
      try expectEqual(second.status, .updated)
      try expectEqual(second.device.id, first.device.id)
      let devices = try await stage.devices(of: "u1")
      try expectEqual(devices.map(\.token), [t2])
      try expectEqual(devices.first?.registeredAt, StorageStage.time(9))
      try expectEqual(try await stage.send(to: ["u1"]).map(\.token), [t2])
    },
    ConformanceCheck("OC-44: without an install id both tokens live; with one the old is superseded") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("anonymous", token: StorageStage.token(1))
      try await stage.register("anonymous", token: StorageStage.token(2))
      try expectEqual(try await stage.devices(of: "anonymous").count, 2)
      try await stage.register(
        "u", token: StorageStage.token(3), install: "i", attributes: DeviceAttributes(appVersion: "1"))
      try await stage.register(
        "u", token: StorageStage.token(4), install: "i", epoch: 1, attributes: DeviceAttributes(appVersion: "2"))
      try expectEqual(try await stage.devices(of: "u").map(\.token), [StorageStage.token(4)])
    },
    ConformanceCheck("OC-46: a token that another user registers is that user's alone") { storage in
      let stage = try await StorageStage(storage)
      let token = try StorageStage.token(5)
      let first = try await stage.register("a", token: token)
      let second = try await stage.register("b", token: token)
      try expectEqual(second.status, .reassigned)
      try expectEqual(second.device.id, first.device.id, "the device stays itself")
      try expectEqual(try await stage.send(to: ["a"]).count, 0)
      try expectEqual(try await stage.send(to: ["b"]).map(\.token), [token])
      let shared = try StorageStage.token(6)
      let install = try await stage.register("a", token: shared, install: "i").device
      let out = DeviceUnregistration(
        appMode: stage.appMode, user: UserID(rawValue: "a"), token: shared, at: StorageStage.start)
      try expectEqual(try await storage.unregister(out), .removed(install.id))
      let kept = try unwrap(try await storage.device(install.id, in: stage.appMode), "the device after the log-out")
      try expect(kept.user == nil && kept.token == shared, "unbound, not deleted")
    },
    ConformanceCheck("OC-47: a log-out takes one device and may be repeated") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...3 { try await stage.register("u", token: StorageStage.token(number)) }
      let request = DeviceUnregistration(
        appMode: stage.appMode, user: UserID(rawValue: "u"), token: try StorageStage.token(2), at: StorageStage.start)
      guard case .removed = try await storage.unregister(request) else {
        throw ConformanceFailure(description: "the device was not removed")
      }
      try expectEqual(try await storage.unregister(request), .absent)
      let tokens = try await stage.send(to: ["u"]).map(\.token)
      try expectEqual(Set(tokens), [try StorageStage.token(1), try StorageStage.token(3)])
    },
    ConformanceCheck("somebody else's token is not unregistered") { storage in
      let stage = try await StorageStage(storage)
      try await stage.register("a", token: StorageStage.token(1))
      let request = DeviceUnregistration(
        appMode: stage.appMode, user: UserID(rawValue: "b"), token: try StorageStage.token(1), at: StorageStage.start)
      try expectEqual(try await storage.unregister(request), .notOwner)
      try expectEqual(try await stage.devices(of: "a").count, 1)
    },
    ConformanceCheck("a token that moves to another install takes its old row along") { storage in
      let stage = try await StorageStage(storage)
      let old = try await stage.register("a", token: StorageStage.token(1), install: "old")
      try await stage.register("b", token: StorageStage.token(2), install: "new")
      let moved = try await stage.register("b", token: StorageStage.token(1), install: "new", epoch: 1)
      try expectEqual(moved.replaced.map(\.id), [old.device.id])
      try expect(try await storage.device(old.device.id, in: stage.appMode) == nil, "the old row is gone")
      try expectEqual(try await stage.devices(of: "a").count, 0)
    },
    ConformanceCheck("é in one and in two characters are two people, each with a device and a decision") { storage in
      let stage = try await StorageStage(storage)
      let names = ["caf\u{E9}", "cafe\u{301}"]
      for (index, name) in names.enumerated() {
        try await stage.register(name, token: StorageStage.token(UInt8(index + 1)), install: "i\(index)")
      }
      for name in names { try expectEqual(try await stage.devices(of: name).count, 1) }
      guard case .accepted(let outgoing) = try await storage.accept(try await stage.acceptance(to: names)) else {
        throw ConformanceFailure(description: "not accepted")
      }
      try expectEqual(outgoing.count, 2)
    },
    ConformanceCheck("sign-out needs the secret and the newest epoch; a late one changes nothing") { storage in
      let stage = try await StorageStage(storage)
      let created = try await stage.register("u", token: StorageStage.token(1), install: "i", epoch: 1)
      let secret = try unwrap(created.installSecret, "the secret of a new install")
      func signOut(_ secret: String, _ epoch: Int64) async throws -> SignOutResult {
        try await storage.signOut(
          InstallSignOut(
            appMode: stage.appMode, install: InstallID(rawValue: "i"), installSecret: secret, epoch: epoch,
            at: StorageStage.time(5)))
      }
      guard case .wrongSecret = try await signOut("guess", 2) else {
        throw ConformanceFailure(description: "a wrong secret was taken")
      }
      guard case .superseded = try await signOut(secret, 0) else {
        throw ConformanceFailure(description: "a late sign-out was taken")
      }
      try expectEqual(try await stage.devices(of: "u").count, 1)
      guard case .signedOut(let device) = try await signOut(secret, 2) else {
        throw ConformanceFailure(description: "the sign-out was refused")
      }
      try expect(device.user == nil, "nobody is signed in")
      try expectEqual(try await stage.devices(of: "u").count, 0)
      try expect(try await storage.device(device.id, in: stage.appMode) != nil, "the row stays")
      let late = try await stage.register("u", token: StorageStage.token(1), install: "i", epoch: 1)
      try expectEqual(late.status, .superseded)
      let back = try await stage.register("v", token: StorageStage.token(1), install: "i", epoch: 3)
      try expectEqual(back.device.id, device.id)
      try expect(back.installSecret == nil, "a secret that was proved is not made anew")
    },
    ConformanceCheck("an install that never showed its secret is given a fresh one") { storage in
      let stage = try await StorageStage(storage)
      let lost = try unwrap(
        try await stage.register("u", token: StorageStage.token(1), install: "i").installSecret, "a secret")
      let fresh = try unwrap(
        try await stage.register("u", token: StorageStage.token(1), install: "i").installSecret, "a fresh secret")
      try expect(lost != fresh, "the lost secret is worth nothing")
      do {
        try await stage.register(nil, token: nil, install: "i", epoch: 1, secret: lost)
        throw ConformanceFailure(description: "the lost secret was taken")
      } catch let error as StorageError {
        try expectEqual(error.kind, .installSecretWrong)
      }
      let out = try await stage.register(nil, token: nil, install: "i", epoch: 1, secret: fresh)
      try expect(out.device.user == nil && out.device.token != nil, "signed out, token kept")
      try expect(out.installSecret == nil, "proved, so kept")
    },
    ConformanceCheck("an install whose secret was lost on the way may still sign out, until it has shown one") {
      storage in
      let stage = try await StorageStage(storage)
      try await stage.register("u", token: StorageStage.token(1), install: "i", epoch: 1)
      let out = try await stage.register(nil, token: StorageStage.token(1), install: "i", epoch: 2)
      try expectEqual(out.device.user, nil, "the pushes of who has left must not go on")
      let secret = try unwrap(out.installSecret, "a secret in place of the lost one")
      try await stage.register("v", token: StorageStage.token(1), install: "i", epoch: 3, secret: secret)
      do {
        try await stage.register(nil, token: StorageStage.token(1), install: "i", epoch: 4)
        throw ConformanceFailure(description: "a sign-out without the secret was taken")
      } catch let error as StorageError {
        try expectEqual(error.kind, .installSecretWrong)
      }
    },
    ConformanceCheck("a registration without token and install is refused") { storage in
      let stage = try await StorageStage(storage)
      do {
        try await stage.register("u", token: nil)
        throw ConformanceFailure(description: "it was taken")
      } catch let error as StorageError {
        try expectEqual(error.kind, .invalidCall)
      }
    },
    ConformanceCheck("test and live never meet") { storage in
      let test = try await StorageStage(storage, mode: .test)
      let live = try await StorageStage(storage, mode: .live)
      let device = try await test.register("u", token: StorageStage.token(1)).device
      try expectEqual(try await live.devices(of: "u").count, 0)
      try expect(try await storage.device(device.id, in: live.appMode) == nil, "not in the other mode")
      try expectEqual(try await live.register("u", token: StorageStage.token(1)).status, .created)
      try expectEqual(try await test.devices(of: "u").count, 1)
    },
    ConformanceCheck("preferences change only what is named and remember when") { storage in
      let stage = try await StorageStage(storage)
      let user = UserID(rawValue: "u")
      func set(_ values: [String: Bool], _ seconds: Int64) async throws -> PreferenceSet {
        try await storage.setPreferences(
          PreferenceChange(appMode: stage.appMode, user: user, values: values, at: StorageStage.time(seconds)))
      }
      _ = try await set(["marketing": false, "message": true], 1)
      let after = try await set(["marketing": false, "talentRequest": false], 2)
      try expectEqual(after["marketing"], PreferenceSet.Setting(isOn: false, setAt: StorageStage.time(1)))
      try expectEqual(after["message"]?.isOn, true)
      try expectEqual(after["talentRequest"]?.setAt, StorageStage.time(2))
      try expectEqual(try await storage.preferences(of: user, in: stage.appMode), after)
    },
    ConformanceCheck("active devices come in pages") { storage in
      let stage = try await StorageStage(storage)
      for number in UInt8(1)...5 { try await stage.register("u\(number)", token: StorageStage.token(number)) }
      let first = try await storage.activeDevices(in: stage.appMode, after: nil, limit: 3)
      let rest = try await storage.activeDevices(in: stage.appMode, after: first.last?.number, limit: 3)
      try expectEqual((first + rest).map(\.user?.rawValue), ["u1", "u2", "u3", "u4", "u5"])
    },
    ConformanceCheck("eight workers register, reassign and sign out; each token has one row at the end") { storage in
      let stage = try await StorageStage(storage)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<UInt64(8) {
          group.addTask {
            var generator = SeededGenerator(seed: worker)
            for round in 0..<40 {
              let token = try StorageStage.token(UInt8(generator.next() % 6))
              let user = "u\(generator.next() % 4)"
              if generator.next() % 4 == 0 {
                _ = try await storage.unregister(
                  DeviceUnregistration(
                    appMode: stage.appMode, user: UserID(rawValue: user), token: token, at: StorageStage.start))
              } else {
                try await stage.register(user, token: token, at: Int64(round))
              }
            }
          }
        }
        try await group.waitForAll()
      }
      var tokens: [DeviceToken] = []
      for user in 0..<4 { tokens += try await stage.devices(of: "u\(user)").compactMap(\.token) }
      try expectEqual(tokens.count, Set(tokens).count)
      let counts = try await storage.counts(in: stage.appMode)
      try expectEqual(counts.activeDevices, tokens.count)
    },
  ]
}
