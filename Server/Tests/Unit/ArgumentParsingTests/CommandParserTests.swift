import ArgumentParsing
import Testing

@Suite struct CommandParserTests {
  private static let device = OptionDefinition("device", .list("TOKEN"), "whom to send to")
  private static let title = OptionDefinition("title", short: "t", .value("TEXT"), "what it says")
  private static let timeout = OptionDefinition("timeout", .value("DURATION"), "when to give up")
  private static let connections = OptionDefinition("connections", .value("N"), "how many")
  private static let dryRun = OptionDefinition("dry-run", .flag, "send nothing")
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "print objects")

  private static let root = CommandDefinition(
    "pabal", summary: "push notifications",
    subcommands: [
      CommandDefinition(
        "send", summary: "send one push",
        examples: [CommandExample("pabal send --device 740f", "one push to one device")],
        options: [device, title, timeout, connections, dryRun, json], plannedOptions: ["resume"]),
      CommandDefinition(
        "jwt", summary: "provider tokens", subcommands: [CommandDefinition("make", summary: "make one")]),
      CommandDefinition(
        "explain", summary: "a code in words", operands: [OperandDefinition("CODE", "the code to explain")]),
    ],
    plannedSubcommands: ["doctor"])

  @Test func readsAllKindsOfFlags() throws {
    let words = [
      "send", "--device", "aa", "bb", "--dry-run", "-t", "-5 °C", "--device=cc", "--json=id,state", "--timeout", "5m",
    ]
    let command = try parse(words)
    #expect(command.path == ["send"])
    #expect(command.list(Self.device) == ["aa", "bb", "cc"])
    #expect(command.value(Self.title) == "-5 °C")
    #expect(command.isSet(Self.dryRun))
    #expect(command.value(Self.json) == "id,state")
    #expect(try command.duration(Self.timeout) == .seconds(300))
    #expect(try command.integer(Self.connections, in: 1...64) == nil)
    #expect(try parse(["send", "--json"]).isSet(Self.json))
    #expect(try parse(["send", "--json"]).value(Self.json) == nil)
    #expect(try parse(["send", "--title="]).value(Self.title) == "")
  }

  @Test func findsNestedVerbsAndOperands() throws {
    #expect(try parse(["jwt", "make"]).path == ["jwt", "make"])
    #expect(try parse(["explain", "apns.Unregistered"]).operands == ["apns.Unregistered"])
    #expect(try parse(["explain", "--", "--help"]).operands == ["--help"])
  }

  @Test(arguments: [
    (["sned"], "Unknown command `pabal sned`. Did you mean `pabal send`? `pabal --help` lists the commands."),
    (["publish"], "Unknown command `pabal publish`. `pabal --help` lists the commands."),
    (
      ["jwt", "mak"],
      "Unknown command `pabal jwt mak`. Did you mean `pabal jwt make`? `pabal jwt --help` lists the commands."
    ),
    (["jwt"], "`pabal jwt` needs one more word: make."),
    (["--dry-run"], "Unknown flag --dry-run: a verb comes first. `pabal --help` lists the verbs."),
    (["send", "--divice", "a"], "Unknown flag --divice. Did you mean --device? `pabal send --help` lists them."),
    (["doctor"], "`pabal doctor` is not built yet. `pabal --help` lists what is."),
    (["send", "--resume", "f"], "--resume is not built yet; leave it out."),
    (["send", "-x"], "Unknown flag -x. `pabal send --help` lists them."),
    (["send", "--dry-run=yes"], "--dry-run takes no value."),
    (["send", "--title"], "--title needs a value: --title TEXT."),
    (["send", "--device", "--dry-run"], "--device needs a value: --device TOKEN."),
    (["send", "-t", "a", "-t", "b"], "--title was given twice. Give it once."),
    (
      ["send", "hello"],
      "'hello' is one word too many. A text with blanks needs quotes; a value needs its flag before it."
    ),
    (["explain"], "CODE is missing. It means: the code to explain"),
  ])
  func refusals(words: [String], message: String) {
    let error = #expect(throws: UsageError.self) { try CommandParser(Self.root).parse(words) }
    #expect(error?.message == message)
  }

  @Test func valuesAreCheckedByTheirName() throws {
    let command = try parse(["send", "--connections", "65", "--timeout", "5"])
    #expect(throws: UsageError("--connections must be a whole number from 1 to 64, found '65'.")) {
      try command.integer(Self.connections, in: 1...64)
    }
    #expect(throws: UsageError("--timeout must be a duration such as 500ms, 30s, 5m or 1h, found '5'.")) {
      try command.duration(Self.timeout)
    }
    #expect(throws: UsageError("--title is missing. It means: what it says")) { try command.required(Self.title) }
  }

  @Test func durations() {
    #expect(DurationText.parse("500ms") == .milliseconds(500))
    #expect(DurationText.parse("1h") == .seconds(3600))
    for text in ["", "5", "s", "-1s", "1.5s", "1d", "9999999999h", "٣s"] { #expect(DurationText.parse(text) == nil) }
  }

  @Test func helpShowsExamplesBeforeFlags() throws {
    guard case .help(let text) = try CommandParser(Self.root).parse(["send", "--title", "--help"]) else {
      Issue.record("help was asked for")
      return
    }
    #expect(
      text == """
        pabal send: send one push

        Examples
          # one push to one device
          pabal send --device 740f

        Usage
          pabal send [FLAGS]

        Flags
          --device TOKEN…             whom to send to
          -t, --title TEXT            what it says
          --timeout DURATION          when to give up
          --connections N             how many
          --dry-run                   send nothing
          --json[=FIELDS]             print objects

        """)
    guard case .help(let root) = try CommandParser(Self.root).parse([]) else {
      Issue.record("no words ask for help")
      return
    }
    #expect(root.contains("Commands\n  send "))
  }

  @Test func exitCodesAreDistinct() {
    #expect(Set(ExitCode.allCases.map(\.rawValue)) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 130])
  }

  private func parse(_ words: [String]) throws -> ParsedCommand {
    guard case .run(let command) = try CommandParser(Self.root).parse(words) else {
      throw UsageError("asked for help")
    }
    return command
  }
}
