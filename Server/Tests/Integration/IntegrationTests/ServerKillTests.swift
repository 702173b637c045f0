import PabalModel
import PabalPrimitives
import PabalServer
import SQLiteStorage
import Storage
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The server dies by SIGKILL in mid-sending, again and again, and starts again on the same data. The stand-in and the
/// driver live on and compare notes: nothing accepted is lost, nothing is sent twice.
@Suite(.serialized) struct ServerKillTests {
  @Test func `20 kills among 16 clients: nothing accepted is lost, no device takes a push twice`() async throws {
    let stage = try await KillStage(seed: 20_270_101)
    try await stage.kill(times: 20)
    let findings = try await stage.settle()
    #expect(findings.problems == [])
    #expect(findings.killsInFlight >= 15, "\(findings)")
    #expect(findings.worstUnknown <= 16 + 16, "\(findings)")
    #expect(findings.accepted >= 200, "\(findings)")
    print("kill test: \(findings)")
  }

  @Test func `the same run finds the mistake of sending before marking`() async throws {
    let stage = try await KillStage(seed: 20_270_101, mistake: "sends-before-marking")
    // A kill shows it only when a push was taken and its outcome not yet written.
    for _ in 0..<60 where try await !stage.hasTakenTwice() { try await stage.kill(times: 1) }
    let findings = try await stage.settle()
    #expect(findings.problems.contains { $0.contains("took a push twice") }, "\(findings)")
  }
}

/// A stand-in and a driver that outlive the servers they see.
private final class KillStage: Sendable {
  struct Findings: Sendable, CustomStringConvertible {
    var problems: [String] = []
    var kills = 0
    var killsInFlight = 0
    var answered = 0
    var accepted = 0
    var unknown = 0
    /// Of one kill.
    var worstUnknown = 0

    var description: String {
      "\(kills) kills, \(killsInFlight) with requests in flight, \(answered) answered, \(accepted) accepted, "
        + "\(unknown) unknown, at most \(worstUnknown) by one kill, problems: \(problems.prefix(5))"
    }
  }

  private struct Notes {
    /// Message ids that a 2xx named, by request id.
    var answered: [String: String] = [:]
    /// Sent to a server that died before it answered.
    var unanswered: [Int: String] = [:]
    var killsInFlight = 0
    var killTimes: [WallTime] = []
    var lastWords: [String] = []
  }

  private static let clients = 16
  /// Two devices for each client, so that no inbox is full before the end.
  private static let usersPerClient = 2

  private let folder: TemporaryFolder
  private let standIn: StandInProcess
  private let generator: Locked<SeededGenerator>
  private let mistake: String?
  private let notes = Locked(Notes())

  init(seed: UInt64, mistake: String? = nil) async throws {
    folder = try TemporaryFolder()
    standIn = try await StandInProcess(in: folder)
    generator = Locked(SeededGenerator(seed: seed))
    self.mistake = mistake
  }

  private var data: String { folder.file("data") }

  private static func user(_ client: Int, _ turn: Int) -> String { "user-\(client)-\(turn % usersPerClient)" }

  func hasTakenTwice() async throws -> Bool { try await takenPushes().values.contains { $0 > 1 } }

  /// - Parameter times: further kills; those before count on.
  func kill(times: Int) async throws {
    let earlier = notes.withLock { $0.killTimes.count }
    for round in earlier..<earlier + times {
      let server = try ChildProcess(
        try TestFiles.serverUnderTest(), [data, standIn.file] + (mistake.map { [$0] } ?? []), keepsInputOpen: true)
      let line = try #require(await server.line(0), "the server did not start")
      let root = try JSONSlice(parsing: Array(line.utf8))
      let api = try ServerCaller(try #require(root["server"]?.string), key: root["testKey"]?.string)
      if round == 0 { try await register(api) }
      let limit = Int(generator.withLock { $0.next() } % 40) + 10
      let lost = try await drive(api, round: round, killing: server, after: limit)
      notes.withLock { $0.killsInFlight += lost > 0 ? 1 : 0 }
      note(await server.result().errors)
    }
  }

  private func note(_ errors: String) {
    if let words = StandInProcess.lastWords(in: errors) { notes.withLock { $0.lastWords.append(words) } }
  }

  private func register(_ api: ServerCaller) async throws {
    for client in 0..<Self.clients {
      for turn in 0..<Self.usersPerClient {
        let minted = try await standIn.control("POST", "/v1/simulator/devices", ["environment": "sandbox"]).json()
        let answer = try await api(
          "PUT", "/v1/devices",
          [
            "installId": .string("install-\(client)-\(turn)"), "epoch": 1, "userId": .string(Self.user(client, turn)),
            "platform": "ios", "token": JSONValue(minted["token"]?.string), "environment": "sandbox",
            "bundleId": "com.example.demo",
          ])
        try #require(answer.status == 200, "\(answer.text)")
      }
    }
  }

  /// Every client sends as fast as it is answered; the reply number `limit` kills the server.
  ///
  /// - Returns: how many requests were in flight then.
  private func drive(
    _ api: ServerCaller, round: Int, killing server: ChildProcess, after limit: Int
  ) async throws -> Int {
    let replies = Locked(0)
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for client in 0..<Self.clients {
        group.addTask {
          for turn in 0... {
            // What died unanswered is asked for again, as a backend would.
            let again = turn == 0 ? self.notes.withLock { $0.unanswered.removeValue(forKey: client) } : nil
            let request = again ?? "k\(round)-c\(client)-t\(turn)"
            let answer: ServerCaller.Answer
            do {
              answer = try await self.send(request, client: client, to: api)
            } catch let failure as ServerCaller.NoAnswer {
              if failure.wasSent || again != nil { self.notes.withLock { $0.unanswered[client] = request } }
              return failure.wasSent ? 1 : 0
            }
            if let message = try answer.json()["messageId"]?.string, answer.status == 200 {
              self.notes.withLock { $0.answered[request] = message }
            }
            let count = replies.withLock { count -> Int in
              count += 1
              return count
            }
            if count == limit {
              server.signal(SIGKILL)
              self.notes.withLock { $0.killTimes.append(Clock.system.wall()) }
            }
          }
          return 0
        }
      }
      return try await group.reduce(0, +)
    }
  }

  private func send(_ request: String, client: Int, to api: ServerCaller) async throws -> ServerCaller.Answer {
    // The turn stands at the end of the request id, so that a repeat goes to the same user.
    let turn = Int(request.split(separator: "t").last ?? "0") ?? 0
    return try await api(
      "POST", "/api/push/talent-request",
      [
        "receiverId": .string(Self.user(client, turn)), "requesterName": "김민준", "talentTitle": "기타",
        "requestId": .string(request),
      ])
  }

  // MARK: Afterwards

  /// Starts the data once more, so that everything open is settled, stops in order, and compares.
  func settle() async throws -> Findings {
    let configuration = UpConfiguration(folder: .kept(data), port: 0, simulatorFile: standIn.file)
    guard case .running(let server) = try await UpServer.start(configuration) else {
      throw ServerCaller.NoAnswer(wasSent: false)
    }
    await server.stop()
    var findings = notes.withLock { notes in
      Findings(
        kills: notes.killTimes.count, killsInFlight: notes.killsInFlight, answered: notes.answered.count)
    }
    let taken = try await takenPushes()
    let deliveries = try await recordedDeliveries()
    for (delivery, times) in taken where times > 1 {
      findings.problems.append("\(delivery) took a push twice: \(times) times")
    }
    let messages = Set(deliveries.map(\.messageID.rawValue))
    for (request, message) in notes.withLock({ $0.answered }) where !messages.contains(message) {
      findings.problems.append("\(request) was answered but is not in the database")
    }
    var unknownByKill: [Int: Int] = [:]
    let killTimes = notes.withLock { $0.killTimes }
    for delivery in deliveries {
      switch delivery.state {
      case .accepted:
        findings.accepted += 1
        if taken[delivery.id.rawValue] == nil {
          findings.problems.append("\(delivery.id.rawValue) is accepted but not in the stand-in's log")
        }
      case .unknown:
        findings.unknown += 1
        let kill = killTimes.firstIndex { delivery.createdAt <= $0 } ?? killTimes.count
        unknownByKill[kill, default: 0] += 1
      default:
        findings.problems.append("\(delivery.id.rawValue) ended \(delivery.state.rawValue)")
      }
    }
    findings.worstUnknown = unknownByKill.values.max() ?? 0
    let known = Set(deliveries.map(\.id.rawValue))
    for delivery in taken.keys where !known.contains(delivery) {
      findings.problems.append("\(delivery) was sent but is not in the database")
    }
    standIn.process.signal(SIGTERM)
    note(await standIn.process.result().errors)
    findings.problems += notes.withLock { $0.lastWords }
    return findings
  }

  /// How often the stand-in took each delivery.
  private func takenPushes() async throws -> [String: Int] {
    var taken: [String: Int] = [:]
    var cursor: String?
    repeat {
      let path = "/v1/simulator/inbox?limit=1000" + (cursor.map { "&cursor=\($0)" } ?? "")
      let page = try await standIn.control("GET", path).json()
      for push in page["data"]?.elements ?? [] {
        let delivery = try #require(push["payload"]?["pabal"]?["d"]?.string)
        taken[delivery, default: 0] += 1
      }
      cursor = page["nextCursor"]?.string
    } while cursor != nil
    return taken
  }

  private func recordedDeliveries() async throws -> [DeliveryRecord] {
    let key = try #require(
      Hex.decode(String(decoding: try TestFiles.read(data + "/master.key"), as: UTF8.self).filter { $0 != "\n" }))
    let storage = try await SQLitePushStorage.open(path: data + "/pabal.sqlite", masterKey: key)
    let appMode = try await storage.openApp(named: "demo", mode: .test)
    var deliveries: [DeliveryRecord] = []
    for client in 0..<Self.clients {
      for turn in 0..<Self.usersPerClient {
        let user = UserID(rawValue: Self.user(client, turn))
        deliveries += try await storage.deliveries(to: user, in: appMode, limit: 10_000)
      }
    }
    await storage.close()
    return deliveries
  }
}
