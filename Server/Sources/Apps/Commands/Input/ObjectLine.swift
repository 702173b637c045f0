import APNs
import PabalModel
import PabalPrimitives

/// Reads `{"device":"…","variables":{…},"apnsId":"…","collapseId":"…"}`.
struct ObjectLine: Sendable {
  private static let names: Set<String> = ["device", "variables", "apnsId", "collapseId"]
  let variables: [String]

  func read(_ line: [UInt8]) -> DeviceLine.Content {
    do {
      let root = try JSONSlice(parsing: line)
      guard root.kind == .object else { return Self.bad("The line must be one JSON object, found \(root.kind).") }
      let members = root.members
      if let foreign = members.first(where: { !Self.names.contains($0.name) }) {
        return Self.bad(
          "The line has an unknown member '\(foreign.name)'; known are device, variables, apnsId and collapseId.")
      }
      return read(root)
    } catch {
      return Self.bad("The line is not valid JSON: \(error.message)")
    }
  }

  private func read(_ root: JSONSlice) -> DeviceLine.Content {
    guard let text = root["device"]?.string else {
      return .bad(LineFault(.deviceTokenInvalid, text: nil, message: "The member device must be a token in quotes."))
    }
    let token: DeviceToken
    do {
      token = try TokenText.read(text)
    } catch {
      return .bad(LineFault(error, text: text))
    }
    guard let values = values(root["variables"]) else {
      return Self.bad("The member variables must be an object.", text: text)
    }
    do {
      let apnsID = try Self.text(root["apnsId"], "apnsId").map(APNsID.init(checking:))
      let collapseID = try Self.text(root["collapseId"], "collapseId")
      // A head is where a collapse id is checked.
      _ = try APNsHead(topic: Topic(rawValue: "t"), pushType: .alert, collapseID: collapseID)
      let isPlain = values.isEmpty && apnsID == nil && collapseID == nil
      return .device(token, isPlain ? nil : LineDetails(values: values, apnsID: apnsID, collapseID: collapseID))
    } catch {
      return Self.bad(error.message, text: text)
    }
  }

  private func values(_ object: JSONSlice?) -> [[UInt8]?]? {
    guard let object, !object.isNull else { return variables.map { _ in nil } }
    guard object.kind == .object else { return nil }
    guard !variables.isEmpty else { return [] }
    var values = [[UInt8]?](repeating: nil, count: variables.count)
    for member in object.members {
      if let index = variables.firstIndex(of: member.name) { values[index] = [UInt8](member.value.bytes) }
    }
    return values
  }

  private static func text(_ value: JSONSlice?, _ name: String) throws(APNsRequestError) -> String? {
    guard let value, !value.isNull else { return nil }
    guard let text = value.string else {
      throw APNsRequestError(code: "header_invalid", message: "The member \(name) must be a string.")
    }
    return text
  }

  private static func bad(_ message: String, text: String? = nil) -> DeviceLine.Content {
    .bad(LineFault(.lineInvalid, text: text, message: message))
  }
}
