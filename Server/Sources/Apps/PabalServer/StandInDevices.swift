import Cryptography
import Observability
import PabalModel
import PabalPrimitives
import Storage

/// The virtual devices behind test-mode tokens, over the control API.
///
/// The stand-in names its devices itself. To give them the same names again after a restart, the folder keeps a line
/// for each: a keyed hash of the token, the name and the environment; never the token.
final class StandInDevices: Sendable {
  struct Minted: Sendable {
    let id: String
    let token: DeviceToken
    let environment: PushEnvironment
  }

  private struct Name: Equatable, Sendable {
    let id: String
    let environment: PushEnvironment
  }

  private let control: ControlClient
  private let folder: DataFolder
  private let hash: HMACSHA256
  private let names: Locked<[String: Name]>
  private let log: Log

  private var indexPath: String { folder.simulatorPath + "/devices" }

  init(control: ControlClient, folder: DataFolder, masterKey: [UInt8], log: Log) throws {
    self.control = control
    self.folder = folder
    self.log = log
    hash = try HMACSHA256(key: HKDFSHA256.derive(from: masterKey, info: Array("pabal.simulator-names.1".utf8)))
    var names: [String: Name] = [:]
    for line in try DataFolder.read(folder.simulatorPath + "/devices")?.split(separator: "\n") ?? [] {
      let words = line.split(separator: " ")
      if words.count == 3, let environment = PushEnvironment(rawValue: String(words[2])) {
        names[String(words[0])] = Name(id: String(words[1]), environment: environment)
      }
    }
    self.names = Locked(names)
  }

  /// Makes a new device; the stand-in chooses its token.
  func mint(topic: Topic, environment: PushEnvironment) async throws -> Minted {
    let answer = try await control.call(
      "POST", "/v1/simulator/devices",
      ["topic": .string(topic.rawValue), "environment": .string(environment.rawValue)])
    let device = try Self.device(try Self.json(answer))
    try remember(device)
    return device
  }

  /// Sees to it that the stand-in knows the token. A device that it has keeps its state there.
  func adopt(_ token: DeviceToken, topic: Topic, environment: PushEnvironment?) async throws {
    let found = try await control.call("GET", "/v1/simulator/devices?token=\(token.hex)")
    let root = try Self.json(found)
    if let first = root["data"]?.elements.first { return try remember(try Self.device(first)) }
    let known = names.withLock { $0[key(of: token)] }
    var members: [JSONMember] = [
      JSONMember("token", .string(token.hex)), JSONMember("topic", .string(topic.rawValue)),
      JSONMember("environment", .string((known?.environment ?? environment ?? .production).rawValue)),
    ]
    if let known { members.append(JSONMember("id", .string(known.id))) }
    let answer = try await control.call("POST", "/v1/simulator/devices", .object(members))
    // Somebody adopted it between the two calls.
    if answer.status == 409 { return }
    try remember(try Self.device(try Self.json(answer)))
  }

  /// All active devices of a registry, after a restart of either side.
  func adoptAll(in storage: any PushStorage, appMode: AppMode, topic: Topic) async throws {
    var last: DeviceNumber?
    while true {
      let page = try await storage.activeDevices(in: appMode, after: last, limit: StorageLimits.rowsPerPage)
      for device in page {
        guard let token = device.token else { continue }
        try await adopt(token, topic: device.topic ?? topic, environment: device.environment)
      }
      guard page.count == StorageLimits.rowsPerPage, let end = page.last else { return }
      last = end.number
    }
  }

  /// What the stand-in calls the device with this token, if this folder has seen it.
  func name(of token: DeviceToken) -> String? {
    names.withLock { $0[key(of: token)]?.id }
  }

  private func key(of token: DeviceToken) -> String {
    do {
      return Hex.encode(try hash.code(for: token.bytes).prefix(16))
    } catch {
      preconditionFailure("HMAC fails only when memory is exhausted")
    }
  }

  private func remember(_ device: Minted) throws {
    let key = key(of: device.token)
    let name = Name(id: device.id, environment: device.environment)
    let isNew = names.withLock { names in
      guard names[key] != name else { return false }
      names[key] = name
      return true
    }
    if isNew { try folder.append("\(key) \(name.id) \(name.environment.rawValue)", to: indexPath) }
  }

  private static func json(_ answer: ControlClient.Answer) throws -> JSONSlice {
    guard (200..<300).contains(answer.status) else {
      throw UpError(.simulator, "The stand-in refused a device with status \(answer.status).")
    }
    return try JSONSlice(parsing: answer.body)
  }

  private static func device(_ root: JSONSlice) throws -> Minted {
    guard let id = root["id"]?.string, let hex = root["token"]?.string,
      let environment = root["environment"]?.string.flatMap(PushEnvironment.init(rawValue:))
    else {
      throw UpError(.simulator, "The stand-in's answer names no device.")
    }
    return Minted(id: id, token: try DeviceToken(parsing: hex), environment: environment)
  }
}
