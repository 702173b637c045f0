import PabalKit
import PabalPrimitives
import PabalSimulation
import Testing

@Suite(.timeLimit(.minutes(1))) @MainActor struct RegistrationTests {
  @Test("OC-46 the phone goes from A to B without a log-out: one state, B's, with a later epoch")
  func accountSwitch() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      let client = try bench.client()
      await client.signIn(userID: "A")
      await client.flush()
      bench.kill()
      try await phone.launch()
      await (try bench.client()).signIn(userID: "B")
      await (try bench.client()).flush()
      let states = bench.server.registrations
      let last = try #require(states.last)
      #expect(last["userId"]?.string == "B")
      #expect(last["epoch"]?.int == 2)
      #expect(last["token"]?.string == String(repeating: "ab", count: 32))
      #expect(Set(states.compactMap { $0["installId"]?.string }).count == 1)
      let secrets = bench.server.calls.filter { $0.path == "/v1/devices" }.map { $0.headers["Pabal-Install-Secret"] }
      #expect(secrets.first == .some(nil))
      #expect(secrets.dropFirst().allSatisfy { $0 == "s3cret" })
    }
  }

  @Test("OC-69 signing in before the system has a token: one registration, with the token, when it comes")
  func tokenComesLate() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.goOffline()
      try await phone.launch()
      let client = try bench.client()
      await client.signIn(userID: "A")
      await client.flush()
      #expect(bench.server.registrations.isEmpty)
      try await phone.advance(by: .seconds(3), whileWorkIsOpen: true)
      phone.goOnline()
      try await phone.settle()
      #expect(bench.server.registrations.count == 1)
      #expect(bench.server.registrations.first?["userId"]?.string == "A")
      #expect(bench.server.registrations.first?["token"]?.string != nil)
    }
  }

  @Test("OC-71 the first uploads fail: repeated with back-off, also by the next launch, and then never again")
  func offlineAtFirst() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      bench.server.setReachable(false)
      try await phone.launch()
      await (try bench.client()).signIn(userID: "A")
      try await phone.settle()
      #expect(bench.server.registrations.isEmpty)
      try await phone.advance(by: .seconds(2))
      bench.kill()
      bench.server.setReachable(true)
      try await phone.launch()
      try await phone.settle()
      #expect(bench.server.registrations.count == 1)
      #expect(bench.server.registrations.first?["userId"]?.string == "A")
      try await phone.advance(by: .seconds(3600))
      bench.kill()
      try await phone.launch()
      try await phone.settle()
      #expect(bench.server.registrations.count == 1)
    }
  }

  @Test func `the back-off timer alone brings the registration through`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      bench.server.setReachable(false)
      try await phone.launch()
      await (try bench.client()).signIn(userID: "A")
      try await phone.advance(by: .seconds(2))
      bench.server.setReachable(true)
      #expect(bench.server.registrations.isEmpty)
      try await phone.advance(by: .seconds(7))
      #expect(bench.server.registrations.count == 1)
    }
  }

  @Test("OC-45 unchanged states are sent again after a week") func weekly() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      try await phone.settle()
      try await phone.advance(by: .seconds(6 * 86_400))
      bench.kill()
      try await phone.launch()
      try await phone.settle()
      #expect(bench.server.registrations.count == 1)
      try await phone.advance(by: .seconds(2 * 86_400))
      bench.kill()
      try await phone.launch()
      try await phone.settle()
      #expect(bench.server.registrations.count == 2)
    }
  }

  @Test func `a sign-out offline is kept through a kill and proven by the install's secret`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      await (try bench.client()).signIn(userID: "A")
      await (try bench.client()).flush()
      bench.server.setReachable(false)
      await (try bench.client()).signOut()
      bench.kill()
      bench.server.setReachable(true)
      try await phone.launch()
      try await phone.settle()
      let call = try #require(bench.server.calls.last { $0.path == "/v1/devices" })
      #expect(call.body["userId"]?.isNull == true)
      #expect(call.body["epoch"]?.int == 2)
      #expect(call.headers["Pabal-Install-Secret"] == "s3cret")
    }
  }

  @Test func `a locked keychain is no empty keychain: registration waits and keeps its install id`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      try await phone.settle()
      let first = try #require(bench.server.registrations.last?["installId"]?.string)
      bench.kill()
      bench.lockKeychain(true)
      try await phone.launch()
      await bench.app.client?.requestNothing()
      try await phone.settle()
      #expect(bench.server.registrations.count == 1)
      bench.lockKeychain(false)
      try await phone.advance(by: .seconds(2))
      await (try bench.client()).signIn(userID: "A")
      await (try bench.client()).flush()
      #expect(bench.server.registrations.last?["installId"]?.string == first)
    }
  }

  @Test("started before the first unlock: nobody signs in or out by accident, and what was asked for is done after it")
  func firstUnlock() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      await (try bench.client()).signIn(userID: "A")
      await (try bench.client()).flush()
      let first = try #require(bench.server.registrations.last)
      let before = bench.server.registrations.count
      bench.kill()
      bench.lockKeychain(true)
      try await phone.launch()
      bench.push(1)
      await (try bench.client()).signOut()
      try await phone.settle()
      #expect(bench.server.registrations.count == before)
      #expect(bench.storedKeychain.count == 1)
      let problems = await (try bench.client()).recentProblems().map(\.code)
      #expect(problems.contains("keychain_locked"))
      var states = try bench.client().registrationUpdates.makeAsyncIterator()
      guard case .failed(let error, let retryAt)? = await states.next() else {
        Issue.record("the app does not hear of it")
        return
      }
      #expect(error.code == "keychain_locked")
      #expect(retryAt != nil)
      bench.lockKeychain(false)
      try await phone.advance(by: .seconds(7))
      let last = try #require(bench.server.registrations.last)
      #expect(last["userId"]?.isNull == true)
      #expect(last["installId"]?.string == first["installId"]?.string)
      #expect(last["epoch"]?.int == 2)
    }
  }

  @Test func `an install falls behind the server, and goes on past its epoch`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      bench.server.answerOnce("/v1/devices", #"{"id":"dev_1","status":"superseded","epoch":7}"#)
      try await phone.launch()
      await (try bench.client()).signIn(userID: "A")
      await (try bench.client()).flush()
      try await phone.settle()
      #expect(bench.server.registrations.last?["userId"]?.string == "A")
      #expect(bench.server.registrations.last?["epoch"]?.int ?? 0 >= 8)
      var states = try bench.client().registrationUpdates.makeAsyncIterator()
      #expect(await states.next() == .registered)
    }
  }

  @Test func `permission is never asked for by the SDK itself`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      await (try bench.client()).signIn(userID: "A")
      await (try bench.client()).flush()
      #expect(!phone.events.contains(.askedForPermission))
      #expect(bench.server.registrations.last?["permission"]?.string == "notDetermined")
      let quiet = try await bench.client().requestAuthorization(.provisional)
      #expect(quiet.permission == .provisional)
      #expect(phone.screen.permissionPrompt == nil)
      await (try bench.client()).flush()
      #expect(bench.server.registrations.last?["permission"]?.string == "provisional")
    }
  }

  @Test func `leaving the app reports what waits`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      bench.server.setReachable(false)
      try await phone.launch()
      await (try bench.client()).signIn(userID: "A")
      try await phone.settle()
      bench.server.setReachable(true)
      try await phone.enterBackground()
      try await phone.settle()
      #expect(bench.server.registrations.last?["userId"]?.string == "A")
    }
  }

  @Test func `a change of permission in Settings is reported when the app comes back`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      try await (try bench.client()).requestAuthorization()
      await (try bench.client()).flush()
      try await phone.settle()
      try await phone.enterBackground()
      #expect(bench.server.registrations.last?["lockScreen"]?.bool == true)
      phone.changeSettings { $0.lockScreen = false }
      try await phone.enterForeground()
      try await phone.settle()
      #expect(bench.server.registrations.last?["lockScreen"]?.bool == false)
      let updates = try bench.client().authorizationUpdates
      var iterator = updates.makeAsyncIterator()
      #expect(await iterator.next()?.lockScreen == false)
    }
  }

  @Test func `a refused registration is reported and not repeated by itself`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      bench.server.answer("/v1/devices", with: 401)
      try await phone.launch()
      try await phone.settle()
      var iterator = try bench.client().registrationUpdates.makeAsyncIterator()
      guard case .failed(let error, let retryAt)? = await iterator.next() else {
        Issue.record("not failed")
        return
      }
      #expect(error.code == "scripted")
      #expect(retryAt == nil)
      bench.server.answer("/v1/devices", with: nil)
      try await phone.advance(by: .seconds(3600))
      #expect(bench.server.registrations.isEmpty)
      await (try bench.client()).flush()
      #expect(bench.server.registrations.count == 1)
    }
  }

  @Test func `preferences are read, changed one at a time, and need a user`() async throws {
    let bench = KitBench()
    try await bench.run { phone in
      try await phone.launch()
      try await phone.settle()
      let client = try bench.client()
      await #expect(throws: PabalError.self) { try await client.preferences.all() }
      await client.signIn(userID: "A B")
      #expect(try await client.preferences.all()[.marketing] == true)
      #expect(try await client.preferences.set(.marketing, false)[.marketing] == false)
      let call = try #require(bench.server.calls.last { $0.path == "/notification-preferences" })
      #expect(call.method == "PUT")
      #expect(call.query == "userId=A%20B")
      #expect(call.body.members.count == 1)
    }
  }
}

extension PabalClient {
  /// A turn of the main actor.
  fileprivate func requestNothing() async {}
}
