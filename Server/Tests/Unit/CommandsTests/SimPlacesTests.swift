import ArgumentParsing
import Commands
import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// Where the `sim` verbs look for their stand-in.
@Suite struct SimPlacesTests {
  private static let server = ["PABAL_SERVER": "http://server:1", "PABAL_KEY": "pb_test_x"]
  private static let named = ["PABAL_SIM_CONTROL": "http://named:2/"]
  /// Nobody dials it here.
  private static let usual = SimPlaces.usual

  private struct Row: CustomTestStringConvertible, Sendable {
    let what: String
    var control: String?
    var environment: [String: String] = [:]
    /// What the folder's profile says, if there is one.
    var profile: String?
    let places: [String]
    var hasKey = false

    var testDescription: String { what }
  }

  private static let profile = #"{"server":"http://written:3","testKey":"pb_test_y"}"#

  private static let rows = [
    Row(what: "nothing said: the usual place", places: [usual]),
    Row(what: "an empty variable says nothing", environment: ["PABAL_SIM_CONTROL": ""], places: [usual]),
    Row(what: "the variable", environment: named, places: ["http://named:2"]),
    Row(what: "the flag", control: "http://flag:4", places: ["http://flag:4"]),
    Row(what: "the flag before the variable", control: "http://flag:4", environment: named, places: ["http://flag:4"]),
    Row(what: "without a port", control: "http://flag", places: ["http://flag:80"]),
    Row(
      what: "the variable before the server", environment: named.merging(server) { $1 }, profile: profile,
      places: ["http://named:2"]),
    Row(what: "a server by name is the only one", environment: server, places: ["http://server:1"], hasKey: true),
    Row(
      what: "a server by name before the folder's", environment: server, profile: profile, places: ["http://server:1"],
      hasKey: true),
    Row(
      what: "the folder's server, and the usual place should that have ended", profile: profile,
      places: ["http://written:3", usual], hasKey: true),
    Row(
      what: "the folder's server named by hand gets its key", control: "http://written:3", profile: profile,
      places: ["http://written:3"], hasKey: true),
    Row(
      what: "another place gets no key", control: "http://written:5", environment: server, profile: profile,
      places: ["http://written:5"]),
    Row(
      what: "a broken profile does not matter to who names another place", control: "http://flag:4", profile: "{",
      places: ["http://flag:4"]),
  ]

  private func places(_ row: Row) throws -> SimPlaces {
    let folder = try TemporaryFolder()
    if let profile = row.profile { try TestFiles.write(profile, to: folder.file("profile.json")) }
    return try SimPlaces(control: row.control, environment: row.environment, profile: folder.file("profile.json"))
  }

  @Test("flag, variable, server, folder, usual place: in this order", arguments: rows)
  private func order(row: Row) throws {
    let places = try places(row)
    #expect(places.addresses == row.places)
    #expect(places.hasKey == row.hasKey)
    #expect(places.nobodyAnswers.contains("at \(row.places.joined(separator: " or "))."))
    for remedy in ["`pabal up`", "`pabal sim serve`", "--control", "PABAL_SIM_CONTROL"] {
      #expect(places.nobodyAnswers.contains(remedy))
    }
  }

  @Test(
    "what is no address, and a server without its key, are mistakes of the caller",
    arguments: [
      ("https://x:1", [:], "--control"), ("nonsense", named, "--control"), ("http://x y", [:], "--control"),
      (nil, ["PABAL_SIM_CONTROL": "127.0.0.1"], "PABAL_SIM_CONTROL"),
      (nil, ["PABAL_SERVER": "http://s:1"], "PABAL_KEY"),
    ] as [(String?, [String: String], String)])
  func mistakes(control: String?, environment: [String: String], word: String) throws {
    let error = try #require(throws: UsageError.self) {
      try SimPlaces(control: control, environment: environment, profile: "/nonexistent/profile.json")
    }
    #expect(error.message.contains(word))
  }

  @Test("a folder whose server has ended: the usual place is asked, and answers") func fallback() async throws {
    let folder = try TemporaryFolder()
    let gone = try SilentPort(refuses: true)
    defer { gone.end() }
    try TestFiles.write(
      #"{"server":"http://127.0.0.1:\#(gone.port)","testKey":"pb_test_y"}"#, to: folder.file("profile.json"))
    let standIn = try await StandIn.start(StandInConfiguration(dataFolder: folder.file("simulator")))
    let usual = try #require(standIn.readyLine.control)
    let places = try SimPlaces(
      control: nil, environment: [:], profile: folder.file("profile.json"), usual: usual)
    let stats = try await SimClient(places).call("GET", "/stats")
    #expect(stats?["requests"]?.int == 0)
    await standIn.stop()
    await #expect(throws: (any Error).self) { try await SimClient(places).call("GET", "/stats") }
  }

  @Test(
    "nobody there: exit code 7, the address, and what to do",
    arguments: [
      ["devices"], ["add"], ["fault", "--clear"], ["inbox"], ["requests"], ["stats"], ["clock"], ["reset"],
    ])
  func nobody(verb: [String]) async throws {
    let nobody = try SilentPort(refuses: true)
    defer { nobody.end() }
    let address = "http://127.0.0.1:\(nobody.port)"
    let byFlag = try await CapturedCommand.run(["sim"] + verb + ["--control", address])
    let byVariable = try await CapturedCommand.run(["sim"] + verb, environment: ["PABAL_SIM_CONTROL": address])
    for result in [byFlag, byVariable] {
      #expect(result.code == .unreachable)
      #expect(result.code.rawValue == 7)
      #expect(result.output.isEmpty)
      #expect(result.errors.contains("No stand-in answers at \(address)."), "\(result.errors)")
      #expect(result.errors.contains("Start one with `pabal up` or `pabal sim serve`"), "\(result.errors)")
      #expect(result.errors.contains("--control URL or PABAL_SIM_CONTROL"), "\(result.errors)")
    }
  }

  @Test("the help of the verbs names the usual place, and that of `sim serve` its port") func help() async throws {
    #expect(SimPlaces.usualPort == 8432)
    let verb = try await CapturedCommand.run(["sim", "stats", "--help"])
    #expect(verb.output.contains(SimPlaces.usual), "\(verb.output)")
    let serve = try await CapturedCommand.run(["sim", "serve", "--help"])
    #expect(serve.output.contains("default \(SimPlaces.usualPort)"), "\(serve.output)")
  }
}
