import Delivery
import HTTPServer
import PabalModel
import PabalPrimitives

/// The named schemas of the OpenAPI document (JSON Schema 2020-12).
enum Schemas {
  static func reference(_ name: String) -> JSONValue {
    ["$ref": .string("#/components/schemas/\(name)")]
  }

  static func list(of name: String) -> JSONValue {
    [
      "type": "object", "required": ["object", "data", "hasMore"],
      "properties": [
        "object": ["const": "list"], "url": text, "hasMore": flag, "nextCursor": nullable(text),
        "data": ["type": "array", "items": reference(name)],
      ],
    ]
  }

  static let text: JSONValue = ["type": "string"]
  static let flag: JSONValue = ["type": "boolean"]
  static let number: JSONValue = ["type": "integer"]
  static let time: JSONValue = ["type": "string", "format": "date-time"]

  static func nullable(_ schema: JSONValue) -> JSONValue { ["anyOf": [schema, ["type": "null"]]] }

  static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> JSONValue
  where Word.RawValue == String {
    ["type": "string", "enum": .array(Word.allCases.map { .string($0.rawValue) })]
  }

  static func object(
    _ properties: KeyValuePairs<String, JSONValue>, required: [String] = [], isClosed: Bool = false
  ) -> JSONValue {
    .compact([
      "type": "object", "required": required.isEmpty ? .null : .array(required.map { .string($0) }),
      "additionalProperties": isClosed ? false : .null,
      "properties": .object(properties.map { JSONMember($0.key, $0.value) }),
    ])
  }

  /// The body of a guide's send route, from the type that it sends.
  static func guideSend(_ type: NotificationType) -> JSONValue {
    let parameters = type.parameters.map { parameter in
      JSONMember(
        parameter.name,
        .compact([
          "type": .string(parameter.kind.rawValue), "minimum": JSONValue(parameter.minimum),
          "maximum": JSONValue(parameter.maximum),
        ]))
    }
    let required = ["receiverId"] + type.parameters.filter(\.isRequired).map(\.name)
    return [
      "type": "object", "required": .array(required.map { .string($0) }),
      "properties": .object([JSONMember("receiverId", text)] + parameters),
    ]
  }

  static let all: [JSONMember] = [
    JSONMember("Error", error), JSONMember("GuideError", guideError), JSONMember("GuideAnswer", guideAnswer),
    JSONMember("GuideRegistration", guideRegistration), JSONMember("GuideRegistered", guideRegistered),
    JSONMember("GuideSent", guideSent), JSONMember("PreferenceChange", preferenceChange),
    JSONMember("Preferences", preferences), JSONMember("DeviceRegistration", deviceRegistration),
    JSONMember("Device", device), JSONMember("MessageRequest", messageRequest), JSONMember("Message", message),
    JSONMember("Delivery", delivery), JSONMember("Step", step), JSONMember("Trace", trace),
    JSONMember("Explanation", explanation), JSONMember("Events", events), JSONMember("EventsTaken", eventsTaken),
  ]

  static let securitySchemes: [JSONMember] = [
    JSONMember(
      "secretKey",
      ["type": "http", "scheme": "bearer", "description": "`pb_test_…`: servers. `Bearer` may be left out."]),
    JSONMember(
      "publishableKey", ["type": "http", "scheme": "bearer", "description": "`pp_test_…`: ships in apps."]),
  ]
}
