import APNs
import ArgumentParsing
import Commands
import PabalModel
import Testing

@Suite struct DeviceLinesTests {
  private static let token = String(repeating: "ab", count: 32)

  @Test func tokensOneALine() throws {
    let list = try ListFile("# note\n\n  \n\(Self.token)\r\n <\(Self.token.uppercased())> \naaaa\n(null)\n")
    let lines = try list.lines(.tokens)
    #expect(lines.map(\.number) == [4, 5, 6, 7])
    #expect(lines[0].token == Self.token && lines[1].token == Self.token)
    #expect(lines[2].fault?.reason == .deviceTokenInvalid)
    #expect(lines[2].fault?.text == "aaaa")
    #expect(lines[3].fault?.message.contains("missing value") == true)
  }

  @Test("digits are read as they are spelled, and nothing else is", arguments: 0...255) func digits(byte: Int) throws {
    let spelled = Array(Self.token.utf8.dropLast()) + [UInt8(byte)]
    guard byte != 0x0A, byte != 0x0D, byte != 0x20, byte != 0x09 else { return }
    let line = try #require(try ListFile(spelled).lines(.tokens).first)
    let isDigit = Character(Unicode.Scalar(UInt8(byte))).isHexDigit && byte < 0x80
    #expect((line.token != nil) == isDigit)
    if isDigit { #expect(line.token == String(decoding: spelled, as: UTF8.self).lowercased()) }
  }

  @Test func objectsWithVariables() throws {
    let list = try ListFile(
      """
      {"device":"\(Self.token)","variables":{"name":"지원","n":1.0,"x":{"a":[]}}}
      {"device":"\(Self.token)","apnsId":"123E4567-E89B-42D3-A456-426614174000","collapseId":"c"}
      {"device":"\(Self.token)"}
      """)
    let lines = try list.lines(.ndjson, variables: ["n", "name", "absent"])
    #expect(lines[0].values == ["1.0", "\"지원\"", nil])
    #expect(lines[1].details?.apnsID?.description == "123e4567-e89b-42d3-a456-426614174000")
    #expect(lines[1].details?.collapseID == "c")
    #expect(lines[1].values == [nil, nil, nil])
    #expect(lines.allSatisfy { $0.token == Self.token })
    #expect(try list.lines(.ndjson)[2].details == nil)
  }

  @Test(
    "an object that cannot be used is a bad line",
    arguments: [
      (#"{"device":"aaaa"}"#, ReasonCode.deviceTokenInvalid), (#"{"device":7}"#, .deviceTokenInvalid),
      (#"{"variables":{}}"#, .deviceTokenInvalid), ("", .lineInvalid), ("[]", .lineInvalid), ("{", .lineInvalid),
      ("# comment", .lineInvalid), (#"{"device":"T","devcie":"x"}"#, .lineInvalid),
      (#"{"device":"T","variables":[]}"#, .lineInvalid), (#"{"device":"T","apnsId":"7"}"#, .lineInvalid),
      (#"{"device":"T","collapseId":7}"#, .lineInvalid),
      (#"{"device":"T","collapseId":"\#(String(repeating: "c", count: 65))"}"#, .lineInvalid),
      (#"{"device":"T","variables":{"a":1,"a":2}}"#, .lineInvalid),
    ])
  func badObjects(line: String, reason: ReasonCode) throws {
    let spelled = line.replacing("\"T\"", with: "\"\(Self.token)\"")
    let found = try #require(try ListFile(spelled + "\n").lines(.ndjson).first)
    #expect(found.fault?.reason == reason)
    #expect(found.fault?.message.isEmpty == false)
  }

  @Test func recordsWithColumns() throws {
    let list = try ListFile(
      "name,device,note\r\n\"Kim, \"\"J\"\"\",\(Self.token),\r\n지원,<\(Self.token)>,\"two\nlines\"\r\n,aaaa,x\r\n")
    let lines = try list.lines(.csv, variables: ["note", "name"])
    #expect(lines.map(\.number) == [2, 3, 5])
    #expect(lines[0].token == Self.token)
    #expect(lines[0].values == ["\"\"", #""Kim, \"J\"""#])
    #expect(lines[1].values == [#""two\nlines""#, "\"지원\""])
    #expect(lines[2].fault?.reason == .deviceTokenInvalid)
  }

  @Test(
    "a record that cannot be used is a bad line",
    arguments: [
      "T", "T,a,b", "\"T\"x,a", "T,a\"b", "\"T,a", "", "T,\u{FFFD}",
    ])
  func badRecords(line: String) throws {
    var bytes = Array("device,name\n".utf8)
    for scalar in line.unicodeScalars {
      // Stands for a byte that is no UTF-8.
      bytes += scalar == "\u{FFFD}" ? [0xFF] : scalar == "T" ? Array(Self.token.utf8) : Array(String(scalar).utf8)
    }
    let found = try #require(try ListFile(bytes + [0x0A]).lines(.csv, variables: ["name"]).first)
    #expect(found.fault?.reason == .lineInvalid)
  }

  @Test(
    "a header must name the devices, and nothing twice",
    arguments: [
      ("", "no CSV header"), ("name,city\n", "no column device"), ("device;name\n", "commas"),
      ("device,a,a\n", "column a twice"), ("\"device\n", "no CSV header"),
    ])
  func headers(text: String, expected: String) throws {
    let error = #expect(throws: UsageError.self) { try ListFile(text).lines(.csv) }
    #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
  }

  @Test func formatsByName() {
    #expect(DeviceListFormat(path: "a/b.NDJSON") == .ndjson)
    #expect(DeviceListFormat(path: "b.jsonl") == .ndjson)
    #expect(DeviceListFormat(path: "b.csv") == .csv)
    #expect(DeviceListFormat(path: "-") == .tokens)
    #expect(DeviceListFormat(path: "csv") == .tokens)
  }

  @Test func aFingerprintIsSeenOnce() {
    var seen = TokenFingerprints(count: 1000)
    let tokens = (0..<1000).map { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> $0) } + [1, 2] }
    #expect(tokens.allSatisfy { seen.insert($0) })
    #expect(tokens.allSatisfy { !seen.insert($0) })
    #expect(TokenFingerprints(count: 5_000_000).byteCount <= 70_000_000)
  }
}
