import Foundation
import PabalCore
import PabalMailbox
import PabalModel
import PabalPrimitives
import Testing

/// Random lives of one install: users, networks, lost answers, kills, full disks, locked keychains. Whatever happened,
/// in the end the server and the phone agree, and it is one install.
@Suite(.timeLimit(.minutes(3))) struct EngineModelTests {
  private static let lives = 60

  @Test(arguments: 0..<lives) func `a random life ends in agreement`(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let world = EngineWorld(seed: UInt64(seed))
    var trace: [String] = []
    await world.start()
    for _ in 0..<40 {
      let step = EngineWorld.Step.all.randomElement(using: &random) ?? .restart
      trace.append("\(step)")
      await world.perform(step)
    }
    await world.makeWell()
    let story = Comment(rawValue: "seed \(seed): " + trace.joined(separator: " "))
    let row = world.server.row
    #expect(world.server.installs.count == 1, story)
    #expect(row?.user == world.user, story)
    #expect(row?.token == world.token, story)
    #expect(world.server.eventIDs == world.recorded, story)
    // Nothing the server took was ever older than what it had.
    #expect(world.server.epochs == world.server.epochs.sorted(), story)
    await world.stop()
  }
}

/// The registry's rules for one install, written from the wire's description.
private final class ModelServer: Sendable {
  struct Row: Sendable {
    var user: String?
    var token: String?
    var epoch: Int
    var secret: String
    var isProven: Bool
  }

  private struct State {
    var rows: [String: Row] = [:]
    var epochs: [Int] = []
    var eventIDs: Set<String> = []
    var secrets = 0
  }

  private let state = Locked(State())

  var row: Row? { state.withLock { $0.rows.values.first } }
  var installs: [String] { state.withLock { Array($0.rows.keys) } }
  var epochs: [Int] { state.withLock { $0.epochs } }
  var eventIDs: Set<String> { state.withLock { $0.eventIDs } }

  func answer(_ call: HTTPCall) throws -> HTTPAnswer {
    let body = try JSONSlice(parsing: call.body ?? [])
    return state.withLock { state in
      guard call.url.path == "/v1/devices" else {
        for event in body["events"]?.elements ?? [] { state.eventIDs.insert(event["eventId"]?.string ?? "?") }
        return HTTPAnswer(status: 202, body: Array(#"{"accepted":1,"duplicates":0,"rejected":[]}"#.utf8))
      }
      let install = body["installId"]?.string ?? "?"
      let epoch = body["epoch"]?.int ?? -1
      let shown = call.headers["Pabal-Install-Secret"]
      let old = state.rows[install]
      if let old, epoch < old.epoch { return HTTPAnswer(status: 200, body: Array(#"{"status":"superseded"}"#.utf8)) }
      if let old, body["userId"]?.isNull == true, shown != old.secret {
        return HTTPAnswer(status: 403, body: Array(#"{"error":{"code":"secret","message":"x"}}"#.utf8))
      }
      var row = old ?? Row(user: nil, token: nil, epoch: 0, secret: "", isProven: false)
      var answer: JSONValue = ["status": "updated"]
      if shown == row.secret, old != nil {
        row.isProven = true
      } else if !row.isProven {
        state.secrets += 1
        row.secret = "secret-\(state.secrets)"
        answer = ["status": "updated", "installSecret": .string(row.secret)]
      }
      row.user = body["userId"]?.string
      row.token = body["token"]?.string ?? row.token
      row.epoch = epoch
      state.rows[install] = row
      state.epochs.append(epoch)
      return HTTPAnswer(status: 200, body: answer.encoded)
    }
  }
}

private final class EngineWorld: Sendable {
  enum Step: Sendable, CaseIterable {
    case signInA, signInB, signOut, token, offline, online, losingAnswers, later, restart, fullDisk, emptyDisk
    case lockedKeychain, unlockedKeychain, event, foreground

    static var all: [Step] { allCases }
  }

  private enum Network { case on, off, losingAnswers }

  private struct State {
    var network = Network.on
    var diskIsFull = false
    var keychainIsLocked = false
    var keychain: [String: [UInt8]] = [:]
    var timers: [Int: (due: Instant, fire: @Sendable () -> Void)] = [:]
    var nextTimer = 0
    var open = 0
    var process = 0
    var user: String?
    var tokens = 1
    var recorded: Set<String> = []
  }

  let server = ModelServer()
  private let clock = ManualClock(wall: WallTime(milliseconds: 1_800_000_000_000))
  private let state = Locked(State())
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("engine-" + UUID().uuidString)
  private let randomness: Randomness
  private let process = Locked<(inbox: EngineInbox, task: Task<Void, Never>)?>(nil)

  init(seed: UInt64) {
    randomness = .seeded(seed)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // Nothing was written.
    }
  }

  var user: String? { state.withLock { $0.user } }
  var token: String { Self.token(state.withLock { $0.tokens }).hex }
  var recorded: Set<String> { state.withLock { $0.recorded } }

  private static func token(_ number: Int) -> DeviceToken {
    guard let token = DeviceToken(bytes: [UInt8(truncatingIfNeeded: number), 1, 2, 3]) else {
      preconditionFailure("four bytes are a token")
    }
    return token
  }

  private var inbox: EngineInbox? { process.withLock { $0?.inbox } }

  func start() async {
    let number = state.withLock { state in
      state.process += 1
      return state.process
    }
    let environment = environment(of: number)
    let inbox = EngineInbox(activity: environment.activity)
    guard let url = URL(string: "http://127.0.0.1:1") else { return }
    let engine = PabalEngine(
      PabalEngine.Setup(server: url, key: "pp_test_1", appGroup: "g", apnsEnvironment: .sandbox),
      environment: environment, inbox: inbox, output: { _ in })
    process.withLock { $0 = (inbox, Task { await engine.run() }) }
    inbox.put(.nudge)
    inbox.put(
      .registration(
        .authorization(
          PabalAuthorization(permission: .granted, alerts: true, sounds: true, badges: true, lockScreen: true))))
    inbox.put(.registration(.token(Self.token(state.withLock { $0.tokens }))))
    await idle()
  }

  func stop() async {
    let old = process.withLock { slot in
      defer { slot = nil }
      return slot
    }
    state.withLock { $0.timers = [:] }
    old?.task.cancel()
    old?.inbox.close()
    await old?.task.value
    state.withLock { $0.open = 0 }
  }

  func perform(_ step: Step) async {
    switch step {
    case .signInA: await account("A", .signIn(UserID(rawValue: "A")))
    case .signInB: await account("B", .signIn(UserID(rawValue: "B")))
    case .signOut: await account(nil, .signOut)
    case .token:
      let number = state.withLock { state in
        state.tokens += 1
        return state.tokens
      }
      inbox?.put(.registration(.token(Self.token(number))))
    case .offline: state.withLock { $0.network = .off }
    case .online: state.withLock { $0.network = .on }
    case .losingAnswers: state.withLock { $0.network = .losingAnswers }
    case .later: advance(.seconds(30))
    case .restart:
      await stop()
      await start()
    case .fullDisk: state.withLock { $0.diskIsFull = true }
    case .emptyDisk: state.withLock { $0.diskIsFull = false }
    case .lockedKeychain: state.withLock { $0.keychainIsLocked = true }
    case .unlockedKeychain: state.withLock { $0.keychainIsLocked = false }
    case .event: event()
    case .foreground: inbox?.put(.nudge)
    }
    await idle()
  }

  /// Everything works again, and time passes.
  func makeWell() async {
    state.withLock { state in
      state.network = .on
      state.diskIsFull = false
      state.keychainIsLocked = false
    }
    for _ in 0..<3 {
      inbox?.put(.nudge)
      await idle()
      advance(.seconds(400))
      await idle()
    }
    await inbox?.handle(.flush)
    await idle()
  }

  /// A wish counts once the app was told that it is saved; with a full disk or a locked keychain it cannot be, so the
  /// user is signed in or out again when that is over, as a person would.
  private func account(_ user: String?, _ event: RegistrationMachine.Event) async {
    let canBeSaved = state.withLock { !$0.diskIsFull && !$0.keychainIsLocked }
    guard canBeSaved else { return }
    await inbox?.handle(.registration(event))
    state.withLock { $0.user = user }
  }

  private func event() {
    guard state.withLock({ !$0.diskIsFull }) else { return }
    let number = state.withLock { $0.recorded.count }
    let identity = PushIdentity(
      message: MessageID(rawValue: "msg_\(number)"), delivery: DeliveryID(rawValue: "dlv_\(number)"))
    let event = ClientEvent.received(identity, at: clock.clock.wall())
    state.withLock { _ = $0.recorded.insert(event.id) }
    inbox?.put(.record([event]))
  }

  private func advance(_ duration: Duration) {
    clock.advance(by: duration)
    let now = clock.clock.monotonic()
    let due = state.withLock { state in
      let due = state.timers.filter { $0.value.due <= now }
      for key in due.keys { state.timers[key] = nil }
      return due.sorted { $0.key < $1.key }.map(\.value.fire)
    }
    for fire in due { fire() }
  }

  private func idle() async {
    while state.withLock({ $0.open > 0 }) { await Task.yield() }
  }

  private func environment(of number: Int) -> PabalEnvironment {
    var environment = PabalEnvironment(
      clock: clock.clock,
      timers: PabalTimers { [state, clock] delay, fire in
        let due = clock.clock.monotonic().advanced(by: delay)
        let id = state.withLock { state in
          state.nextTimer += 1
          state.timers[state.nextTimer] = (due, fire)
          return state.nextTimer
        }
        return PabalTimer { state.withLock { $0.timers[id] = nil } }
      },
      randomness: randomness,
      http: HTTPClient(
        send: { [state, server] call in
          switch state.withLock({ $0.process == number ? $0.network : .off }) {
          case .on: return try server.answer(call)
          case .off: throw HTTPFailure(.unreachable)
          case .losingAnswers:
            _ = try server.answer(call)
            throw HTTPFailure(.timedOut)
          }
        },
        download: { _ in throw HTTPFailure(.unreachable) }),
      keychain: PabalKeychain(
        read: { [state] name throws(PabalKeychainError) in
          if state.withLock({ $0.keychainIsLocked }) { throw PabalKeychainError(.lockedYet) }
          return state.withLock { $0.keychain[name] }
        },
        write: { [state] name, value throws(PabalKeychainError) in
          if state.withLock({ $0.keychainIsLocked }) { throw PabalKeychainError(.lockedYet) }
          state.withLock { $0.keychain[name] = value }
        }),
      application: {
        PabalApplicationFacts(
          bundleID: "kr.app", appVersion: "1", osVersion: "18.1", model: "iPhone17,3", locale: "ko-KR",
          timeZone: "Asia/Seoul", hasServiceExtension: true, hasContentExtension: false)
      },
      container: folder, sharedContainer: { _ in nil },
      activity: PabalActivity { [state] in
        state.withLock { $0.open += 1 }
        return { state.withLock { if $0.process == number { $0.open -= 1 } } }
      })
    let live = DurableFiles.live
    environment.files.write = { [state] path, bytes throws(DurableFileError) in
      if state.withLock({ $0.diskIsFull }) { throw DurableFileError("write", number: 28) }
      try live.write(path, bytes)
    }
    environment.files.append = { [state] path, bytes throws(DurableFileError) in
      if state.withLock({ $0.diskIsFull }) { throw DurableFileError("write", number: 28) }
      try live.append(path, bytes)
    }
    return environment
  }
}
