package import PabalModel
package import PabalPrimitives

/// The body of `PUT /v1/devices`: the whole state of this install, so that calls have no order to get wrong.
package struct DeviceStateBody: Sendable, Equatable {
  package static let sdkVersion = "0.1.0"

  package var installID: InstallID
  package var epoch: Int
  package var user: UserID?
  package var token: DeviceToken?
  package var environment: PushEnvironment?
  package var facts: PabalApplicationFacts
  package var authorization: PabalAuthorization

  package init(
    installID: InstallID, epoch: Int, user: UserID?, token: DeviceToken?, environment: PushEnvironment?,
    facts: PabalApplicationFacts, authorization: PabalAuthorization
  ) {
    self.installID = installID
    self.epoch = epoch
    self.user = user
    self.token = token
    self.environment = environment
    self.facts = facts
    self.authorization = authorization
  }

  package var json: JSONValue {
    var members: [JSONMember] = [
      JSONMember("installId", .string(installID.rawValue)), JSONMember("epoch", .int(Int64(epoch))),
      JSONMember("userId", JSONValue(user?.rawValue)), JSONMember("platform", "ios"),
      JSONMember("token", JSONValue(token?.hex)), JSONMember("bundleId", .string(facts.bundleID)),
    ]
    if let environment { members.append(JSONMember("environment", .string(environment.rawValue))) }
    members += [
      JSONMember("appVersion", .string(facts.appVersion)), JSONMember("osVersion", .string(facts.osVersion)),
      JSONMember("model", .string(facts.model)), JSONMember("locale", .string(facts.locale)),
      JSONMember("timeZone", .string(facts.timeZone)),
      JSONMember("permission", .string(authorization.permission.rawValue)),
      JSONMember("lockScreen", .bool(authorization.lockScreen)),
      JSONMember("sdkVersion", .string(Self.sdkVersion)),
      JSONMember(
        "capabilities",
        [
          "serviceExtension": .bool(facts.hasServiceExtension), "contentExtension": .bool(facts.hasContentExtension),
        ]),
    ]
    return .object(members)
  }

  /// Tells states apart; what the server has acknowledged is remembered by it.
  package var hash: String { StableHash.hex(json.encoded) }
}

/// What the SDK reads of the answer to `PUT /v1/devices`.
package struct DeviceStateAnswer: Sendable, Equatable {
  /// `superseded`: the server knows a later epoch of this install and changed nothing.
  package var superseded: Bool
  /// The server's epoch, when it says so.
  package var epoch: Int?
  /// Given once, when the install is new to the server.
  package var installSecret: String?

  package init(superseded: Bool = false, epoch: Int? = nil, installSecret: String? = nil) {
    self.superseded = superseded
    self.epoch = epoch
    self.installSecret = installSecret
  }

  /// `nil` when the body is no JSON object, as when something between us and the server answered.
  package init?(body: [UInt8]) {
    do throws(JSONError) {
      let root = try JSONSlice(parsing: body)
      guard root.kind == .object else { return nil }
      self.init(
        superseded: root["status"]?.string == "superseded", epoch: root["epoch"]?.int,
        installSecret: root["installSecret"]?.string)
    } catch {
      return nil
    }
  }
}
