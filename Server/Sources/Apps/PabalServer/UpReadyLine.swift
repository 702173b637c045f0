import PabalModel
package import PabalPrimitives

/// What a started server says of itself: all that anybody needs to use it.
package struct UpReadyLine: Sendable, Unprintable {
  package struct User: Sendable, Equatable {
    package let id: String
    package let devices: [Device]
  }

  package struct Device: Sendable, Equatable {
    /// The stand-in's id of the device.
    package let id: String
    package let token: String
    package let platform: String
  }

  /// `http://127.0.0.1:P`.
  package let server: String
  package let testKey: String
  package let publishableKey: String
  package let app: String
  package let data: String
  package let metrics: String
  /// `{"apns":{…},"control":"…"}`.
  package let simulator: JSONValue
  package let users: [User]

  package var json: JSONValue {
    .object(
      links + [
        JSONMember(
          "users", .array(users.map { ["id": .string($0.id), "devices": .array($0.devices.map { $0.json })] }))
      ])
  }

  /// `profile.json`: the same without the devices' tokens, which are kept sealed only.
  var profile: JSONValue {
    .object(
      links + [
        JSONMember(
          "users",
          .array(
            users.map { user in
              let devices = user.devices.map { device -> JSONValue in
                ["id": .string(device.id), "platform": .string(device.platform)]
              }
              return ["id": .string(user.id), "devices": .array(devices)]
            }))
      ])
  }

  private var links: [JSONMember] {
    [
      JSONMember("server", .string(server)), JSONMember("testKey", .string(testKey)),
      JSONMember("publishableKey", .string(publishableKey)), JSONMember("app", .string(app)),
      JSONMember("data", .string(data)), JSONMember("metrics", .string(metrics)),
      JSONMember("simulator", simulator),
    ]
  }
}

extension UpReadyLine.Device {
  fileprivate var json: JSONValue {
    ["id": .string(id), "token": .string(token), "platform": .string(platform)]
  }
}

/// What `profile.json` says.
struct UpProfile: Sendable, Unprintable {
  let root: JSONSlice
  let testKey: String
  let publishableKey: String

  /// `nil`: there is none yet.
  static func read(_ file: String) throws(UpError) -> UpProfile? {
    guard let text = try DataFolder.read(file) else { return nil }
    do {
      let root = try JSONSlice(parsing: Array(text.utf8))
      if let testKey = root["testKey"]?.string, let publishableKey = root["publishableKey"]?.string {
        return UpProfile(root: root, testKey: testKey, publishableKey: publishableKey)
      }
      throw UpError(.dataFolder, "\(file) names no keys. Remove it to have new ones made.")
    } catch let error as UpError {
      throw error
    } catch {
      throw UpError(.dataFolder, "\(file) cannot be read. Remove it to have new keys made.", cause: error)
    }
  }

  /// The ready line of the server that wrote the profile and still runs; tokens are asked of the stand-in.
  func readyLine(control: ControlClient) async throws(UpError) -> UpReadyLine {
    func text(_ name: String) throws(UpError) -> String {
      guard let text = root[name]?.string else { throw UpError(.dataFolder, "profile.json has no \(name).") }
      return text
    }
    var users: [UpReadyLine.User] = []
    for user in root["users"]?.elements ?? [] {
      var devices: [UpReadyLine.Device] = []
      for device in user["devices"]?.elements ?? [] {
        let id = device["id"]?.string ?? ""
        let answer = try await control.call("GET", "/v1/simulator/devices/\(id)")
        let token = JSONSlice(reading: answer.body)?["token"]?.string
        devices.append(
          UpReadyLine.Device(id: id, token: token ?? "", platform: device["platform"]?.string ?? "ios"))
      }
      users.append(UpReadyLine.User(id: user["id"]?.string ?? "", devices: devices))
    }
    return UpReadyLine(
      server: try text("server"), testKey: testKey, publishableKey: publishableKey, app: try text("app"),
      data: try text("data"), metrics: try text("metrics"), simulator: root["simulator"].map { JSONValue($0) } ?? .null,
      users: users)
  }

  /// Where the stand-in of that server is controlled.
  var controlURL: String? { root["simulator"]?["control"]?.string }
}

extension JSONSlice {
  /// `nil` for what is no JSON.
  fileprivate init?(reading bytes: [UInt8]) {
    do { try self.init(parsing: bytes) } catch { return nil }
  }
}
