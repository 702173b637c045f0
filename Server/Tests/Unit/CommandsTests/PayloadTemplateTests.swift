import ArgumentParsing
import Commands
import PabalModel
import Testing

@Suite struct PayloadTemplateTests {
  private static func render(_ source: String, _ values: [String: String]) throws -> PayloadTemplate.Rendering {
    let template = try PayloadTemplate(Array(source.utf8))
    return template.render(template.names.map { values[$0].map { Array($0.utf8) } })
  }

  @Test(
    "variables fill strings, escaped as they came; all else stays byte for byte",
    arguments: [
      (#"{ "a" : "Hi {name}!" , "n":1.0 }"#, #"{ "a" : "Hi 지원!" , "n":1.0 }"#),
      (#"{"a":"{name}"}"#, #"{"a":"지원"}"#), (#"{"a":"{count}"}"#, #"{"a":1.50}"#),
      (#"{"a":"{count} of {count}"}"#, #"{"a":"1.50 of 1.50"}"#), (#"{"a":"{quote}"}"#, #"{"a":"\"\\\n"}"#),
      (#"{"a":"<{quote}>"}"#, #"{"a":"<\"\\\n>"}"#), (#"{"a":"{object}"}"#, #"{"a":{"b":[]}}"#),
      (#"{"a":"{{name}"}"#, #"{"a":"{name}"}"#), (#"{"a":"{{{name}}"}"#, #"{"a":"{지원}"}"#),
      (#"{"a":["x{on}",{"b":"{on}"}]}"#, #"{"a":["xtrue",{"b":true}]}"#), (#"{"{name}":"x"}"#, #"{"{name}":"x"}"#),
      (#"{"a":"\u007bname}"}"#, #"{"a":"\u007bname}"}"#), (#"{"a":"{na\u006De}"}"#, #"{"a":"지원"}"#),
      ("{\n\"a\":\"}\"\n}", "{\n\"a\":\"}\"\n}"),
    ])
  func fills(source: String, expected: String) throws {
    let values = [
      "name": "\"지원\"", "count": "1.50", "quote": #""\"\\\n""#, "object": #"{"b":[]}"#, "on": "true",
    ]
    #expect(try Self.render(source, values) == .payload(Array(expected.utf8)))
  }

  @Test func whatIsMissingIsNamed() throws {
    #expect(try Self.render(#"{"a":"{b}"}"#, [:]) == .rejected(.variableMissing))
    #expect(try Self.render(#"{"a":"x{b}"}"#, [:]) == .rejected(.variableMissing))
    // An object, a list or null has no text.
    #expect(try Self.render(#"{"a":"x{b}"}"#, ["b": "{}"]) == .rejected(.payloadInvalid))
    #expect(try Self.render(#"{"a":"x{b}"}"#, ["b": "null"]) == .rejected(.payloadInvalid))
    #expect(try Self.render(#"{"a":"{b}"}"#, ["b": "null"]) == .payload(Array(#"{"a":null}"#.utf8)))
  }

  @Test(
    "a brace that is none of both is refused with its place",
    arguments: [
      #"{"a":"x { y"}"#, #"{"a":"{}"}"#, #"{"a":"{"}"#, #"{"a":"{a{b}"}"#,
      #"{"a":"{\#(String(repeating: "n", count: 200))}"}"#,
    ])
  func loneBraces(source: String) throws {
    let error = #expect(throws: UsageError.self) { try PayloadTemplate(Array(source.utf8)) }
    #expect(error?.message.contains("line 1, column") == true)
  }
}
