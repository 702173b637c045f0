import HTTPServer
import PabalModel
import Observability
import PabalPrimitives
import Storage

// The registry: what installs say about themselves, and what the backend sees of them.
extension PushAPI {
  static let installSecretHeader = "Pabal-Install-Secret"

  var deviceRoutes: [Route] {
    let id = RouteOperation.Parameter("id", in: .path, "`dev_…`")
    let install = RouteOperation.Parameter("installId", in: .path, "The install's own name")
    let secret = RouteOperation.Parameter(
      Self.installSecretHeader, in: .header, "The secret given when the install was created")
    return [
      route(
        .put, "/v1/devices", .publishable,
        RouteOperation(
          "registerDevice", "Register an install, its token and its user", tag: "Devices", parameters: [secret],
          request: Schemas.reference("DeviceRegistration"),
          replies: [
            RouteOperation.Reply(200, "As it now stands", schema: Schemas.reference("Device")), Self.wrongSecret,
          ]),
        register),
      route(
        .get, "/v1/devices", .secret,
        RouteOperation(
          "listDevices", "The devices of a user", tag: "Devices",
          parameters: [RouteOperation.Parameter("userId", in: .query, "Whose", required: true)]
            + ListQuery.parameters,
          replies: [RouteOperation.Reply(200, "Oldest first", schema: Schemas.list(of: "Device"))]),
        listDevices),
      route(
        .get, "/v1/devices/install:{installId}", .secret,
        RouteOperation(
          "getInstall", "The device of an install", tag: "Devices", parameters: [install],
          replies: [RouteOperation.Reply(200, "The device", schema: Schemas.reference("Device"))])
      ) { request, _ in
        try .json(200, deviceValue(await device(install: request)))
      },
      route(
        .delete, "/v1/devices/install:{installId}", .publishable,
        RouteOperation(
          "signOutInstall", "Sign an install out, also days later", tag: "Devices",
          parameters: [
            install, secret,
            RouteOperation.Parameter(
              "epoch", in: .query, "The install's count of sign-ins and sign-outs", schema: ["type": "integer"]),
          ],
          replies: [RouteOperation.Reply(200, "`signedOut`, `superseded` or `absent`"), Self.wrongSecret]),
        signOut),
      route(
        .get, "/v1/devices/{id}", .secret,
        RouteOperation(
          "getDevice", "A device", tag: "Devices", parameters: [id],
          replies: [RouteOperation.Reply(200, "The device", schema: Schemas.reference("Device"))])
      ) { request, _ in
        try .json(200, deviceValue(await device(request)))
      },
      route(
        .delete, "/v1/devices/{id}", .secret,
        RouteOperation(
          "deleteDevice", "Take a device from its user", tag: "Devices", parameters: [id],
          replies: [RouteOperation.Reply(200, "Gone, or gone before")]),
        deleteDevice),
    ]
  }

  private static let wrongSecret = RouteOperation.Reply(
    403, "The install secret does not match.", schema: Schemas.reference("Error"))

  private func register(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    let body = try RegistrationBody(request, .v1)
    let secret = request.header(Self.installSecretHeader)
    let (result, inFlight) = try await register(body, installSecret: secret)
    let device = result.device
    let value = JSONValue.compact([
      "id": .string(device.id.rawValue), "object": "device", "mode": mode, "status": .string(result.status.rawValue),
      "epoch": device.install == nil ? .null : .int(device.epoch),
      "environment": JSONValue(device.environment?.rawValue), "installSecret": JSONValue(result.installSecret),
      "inFlight": JSONValue(inFlight),
    ])
    // `userId` is null when nobody is signed in, which a client must be able to tell from a missing member.
    guard case .object(var members) = value else { return .json(200, value) }
    members.insert(JSONMember("userId", JSONValue(device.user?.rawValue)), at: 4)
    return .json(200, .object(members), headers: Self.openIdentity)
  }

  /// Stores a registration and lets the stand-in learn the token before the caller hears that it is there.
  ///
  /// - Returns: also how many pushes to its last user have left and cannot be called back; `nil` when it has no other.
  func register(
    _ body: RegistrationBody, installSecret: String?
  ) async throws -> (result: RegistrationResult, inFlight: Int?) {
    let result = try await storage.register(
      DeviceRegistration(
        appMode: configuration.appMode, user: body.user, install: body.install, epoch: body.epoch, token: body.token,
        platform: body.platform, topic: body.topic ?? configuration.defaultTopic, environment: body.environment,
        attributes: body.attributes, installSecret: installSecret, at: now))
    configuration.metrics.add(to: APIMetrics.deviceChanges, [result.status.rawValue, "registration"])
    let inFlight = await reconsider(after: result)
    if let token = result.device.token, let adopt = configuration.adopt, result.status != .superseded {
      do {
        try await adopt(token, result.device.topic ?? configuration.defaultTopic, result.device.environment)
      } catch {
        throw APIError(
          503, .server, "unavailable", "The device is stored, but the stand-in did not take it; send it again.",
          headers: [HTTPField("Retry-After", "1")], cause: error)
      }
    }
    return (result, inFlight)
  }

  /// What was decided for the device as it was, or for one that it replaced, is looked at again.
  private func reconsider(after result: RegistrationResult) async -> Int? {
    guard result.status == .reassigned || result.status == .updated else { return nil }
    let numbers = [result.device.number] + result.replaced.map(\.number)
    let inFlight = await dispatcher.reconsider(Set(numbers.map { .device($0) }))
    return result.status == .reassigned ? inFlight : nil
  }

  /// Says that the `userId` of the call was believed without proof.
  static let openIdentity = [HTTPField("Pabal-Warning", "identity_open")]

  private func listDevices(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    let query = try ListQuery(request, filters: ["userId"], now: now)
    guard let text = request.queryValue("userId") else { throw APIError.missing("userId") }
    let all = try await storage.devices(of: Self.user(text, "userId"), in: configuration.appMode)
    let later = try await devices(all, after: query.after)
    return page(Array(later.prefix(query.limit + 1)), query, url: "/v1/devices", id: \.id.rawValue, value: deviceValue)
  }

  /// Devices of a user come and go: where the last one shown has gone, the list goes on behind its number.
  private func devices(_ all: [DeviceRecord], after last: String?) async throws -> [DeviceRecord] {
    guard let last else { return all }
    if let index = all.firstIndex(where: { $0.id.rawValue == last }) { return Array(all[(index + 1)...]) }
    let moved = try await storage.device(DeviceID(rawValue: last), in: configuration.appMode)
    guard let moved else { throw ListCursor.expired("The device at which the page before ended is gone.") }
    return all.filter { $0.number > moved.number }
  }

  private func device(_ request: HTTPRequest) async throws -> DeviceRecord {
    let id = DeviceID(rawValue: request.parameters["id"] ?? "")
    guard let device = try await storage.device(id, in: configuration.appMode) else {
      throw APIError.notFound("device_not_found", "There is no such device.")
    }
    return device
  }

  private func device(install request: HTTPRequest) async throws -> DeviceRecord {
    let device = try await storage.device(of: Self.install(request), in: configuration.appMode)
    guard let device else { throw APIError.notFound("device_not_found", "There is no such install.") }
    return device
  }

  private static func install(_ request: HTTPRequest) throws(APIError) -> InstallID {
    guard let install = InstallID(checking: request.parameters["installId"] ?? "") else {
      throw .invalid("installId", "must have 1 to 64 letters, digits, '-' or '_'")
    }
    return install
  }

  private func signOut(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    try Self.allowQuery(request, ["epoch"])
    let install = try Self.install(request)
    guard let secret = request.header(Self.installSecretHeader) else {
      throw APIError.missing(Self.installSecretHeader, hint: "It was given when the install was created.")
    }
    let epoch: Int64
    if let text = request.queryValue("epoch") {
      guard let number = Int64(text), number >= 0 else { throw APIError.invalid("epoch", "must be a whole number") }
      epoch = number
    } else {
      epoch = try await storage.device(of: install, in: configuration.appMode)?.epoch ?? 0
    }
    let result = try await storage.signOut(
      InstallSignOut(
        appMode: configuration.appMode, install: install, installSecret: secret, epoch: epoch, at: now))
    switch result {
    case .wrongSecret: throw StorageError(.installSecretWrong, "The install secret does not match.")
    case .absent: return .json(200, ["object": "device", "status": "absent"])
    case .signedOut(let device):
      return .json(
        200, Self.signedOut(device, "signedOut", inFlight: await dispatcher.reconsider([.device(device.number)])))
    case .superseded(let device): return .json(200, Self.signedOut(device, "superseded", inFlight: 0))
    }
  }

  private static func signedOut(_ device: DeviceRecord, _ status: String, inFlight: Int) -> JSONValue {
    [
      "id": .string(device.id.rawValue), "object": "device", "status": .string(status),
      "userId": JSONValue(device.user?.rawValue), "epoch": .int(device.epoch), "inFlight": .int(Int64(inFlight)),
    ]
  }

  private func deleteDevice(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    let device = try await device(request)
    let released = try await storage.release(device.id, in: configuration.appMode, at: now)
    var inFlight = 0
    if released != nil {
      configuration.metrics.add(to: APIMetrics.deviceChanges, ["removed", "deletion"])
      inFlight = await dispatcher.reconsider([.device(device.number)])
    }
    return .json(
      200,
      [
        "id": .string(device.id.rawValue), "object": "device", "mode": mode, "deleted": .bool(released != nil),
        "inFlight": .int(Int64(inFlight)),
      ])
  }

  /// Never the whole token: the first and last four digits are enough to recognise it.
  func deviceValue(_ device: DeviceRecord) -> JSONValue {
    .compact([
      "id": .string(device.id.rawValue), "object": "device", "mode": mode,
      "userId": JSONValue(device.user?.rawValue), "installId": JSONValue(device.install?.rawValue),
      "epoch": device.install == nil ? .null : .int(device.epoch), "platform": .string(device.platform.rawValue),
      "token": JSONValue(device.token?.redacted), "bundleId": JSONValue(device.topic?.rawValue),
      "environment": JSONValue(device.environment?.rawValue),
      "environmentLearned": device.environment == nil ? .null : .bool(device.environmentIsLearned),
      "status": .string(device.status.rawValue), "inactiveReason": JSONValue(device.inactiveReason?.rawValue),
      "inactiveSince": JSONValue(device.inactiveSince?.rfc3339),
      "appVersion": JSONValue(device.attributes.appVersion), "osVersion": JSONValue(device.attributes.osVersion),
      "model": JSONValue(device.attributes.model), "locale": JSONValue(device.attributes.locale),
      "timeZone": JSONValue(device.attributes.timeZone), "permission": JSONValue(device.attributes.permission),
      "lockScreen": JSONValue(device.attributes.lockScreen), "sdkVersion": JSONValue(device.attributes.sdkVersion),
      "createdAt": .string(device.createdAt.rfc3339), "registeredAt": .string(device.registeredAt.rfc3339),
    ])
  }
}
