import Cryptography
import Observability
import PabalModel
import PabalPrimitives
import Storage

/// The virtual devices behind test-mode tokens, over the control API.
///
/// The stand-in names its devices itself. To give them the same names again after a restart, the folder keeps an index
/// of those that the registry has: a keyed hash of the token, the name and the environment; never the token.
final class StandInDevices: Sendable {
  struct Minted: Sendable {
    let id: String
    let token: DeviceToken
    let environment: PushEnvironment
  }

  private let control: ControlClient
  private let hash: HMACSHA256
  private let index: StandInIndex
  private let storage: any PushStorage
  private let appMode: AppMode
  private let log: Log

  init(
    control: ControlClient, index: StandInIndex, masterKey: [UInt8], storage: any PushStorage, appMode: AppMode,
    log: Log
  ) throws {
    self.control = control
    self.index = index
    self.storage = storage
    self.appMode = appMode
    self.log = log
    hash = try HMACSHA256(key: HKDFSHA256.derive(from: masterKey, info: Array("pabal.simulator-names.1".utf8)))
  }

  /// Makes a new device; the stand-in chooses its token.
  func mint(topic: Topic, environment: PushEnvironment) async throws -> Minted {
    let answer = try await control.call(
      "POST", "/v1/simulator/devices",
      ["topic": .string(topic.rawValue), "environment": .string(environment.rawValue)])
    let device = try Self.device(try Self.json(answer))
    try await remember(device)
    return device
  }

  /// Sees to it that the stand-in knows the token of a registered device. One that it has keeps its state there.
  func adopt(_ token: DeviceToken, topic: Topic, environment: PushEnvironment?) async throws {
    try await take(token, topic: topic, environment: environment)
    do {
      try await index.sweepWhenDue {
        try await forEachActive { device, token in index.see(key(of: token)) }
      }
    } catch {
      log.event(
        "simulator.index_kept", "The index of the stand-in's devices could not be tidied; a later device tries again",
        level: .error, ["error_code": .string((error as? any CodedError)?.code ?? "unknown")])
    }
  }

  private func take(_ token: DeviceToken, topic: Topic, environment: PushEnvironment?) async throws {
    let key = key(of: token)
    index.see(key)
    let found = try await control.call("GET", "/v1/simulator/devices?token=\(token.hex)")
    let root = try Self.json(found)
    if let first = root["data"]?.elements.first { return try await remember(try Self.device(first)) }
    let known = index.name(of: key)
    var members: [JSONMember] = [
      JSONMember("token", .string(token.hex)), JSONMember("topic", .string(topic.rawValue)),
      JSONMember("environment", .string((known?.environment ?? environment ?? .production).rawValue)),
    ]
    if let known { members.append(JSONMember("id", .string(known.id))) }
    let answer = try await control.call("POST", "/v1/simulator/devices", .object(members))
    // Somebody adopted it between the two calls.
    if answer.status == 409 { return }
    try await remember(try Self.device(try Self.json(answer)))
  }

  /// All active devices of the registry, after a restart of either side; the index forgets all others.
  func adoptAll(topic: Topic) async throws {
    try await index.sweep {
      try await forEachActive { device, token in
        try await take(token, topic: device.topic ?? topic, environment: device.environment)
      }
    }
  }

  private func forEachActive(_ body: (DeviceRecord, DeviceToken) async throws -> Void) async throws {
    var last: DeviceNumber?
    while true {
      let page = try await storage.activeDevices(in: appMode, after: last, limit: StorageLimits.rowsPerPage)
      for device in page {
        guard let token = device.token else { continue }
        try await body(device, token)
      }
      guard page.count == StorageLimits.rowsPerPage, let end = page.last else { return }
      last = end.number
    }
  }

  /// What the stand-in calls the device with this token, if this folder has seen it.
  func name(of token: DeviceToken) -> String? {
    index.name(of: key(of: token))?.id
  }

  private func key(of token: DeviceToken) -> String {
    do {
      return Hex.encode(try hash.code(for: token.bytes).prefix(16))
    } catch {
      preconditionFailure("HMAC fails only when memory is exhausted")
    }
  }

  private func remember(_ device: Minted) async throws {
    try await index.remember(
      StandInIndex.Name(id: device.id, environment: device.environment), as: key(of: device.token))
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
