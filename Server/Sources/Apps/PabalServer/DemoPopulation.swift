import PabalModel
import PabalPrimitives
import Storage

/// Three people with four devices, so that the first push has somewhere to go.
struct DemoPopulation: Sendable {
  private struct Person: Sendable {
    let id: String
    let models: [String]
    let locale: String
  }

  private static let people = [
    Person(id: "demo-jiwon", models: ["iPhone 16", "iPad Air"], locale: "ko-KR"),
    Person(id: "demo-minjun", models: ["iPhone SE"], locale: "ko-KR"),
    Person(id: "demo-alex", models: ["iPhone 15"], locale: "en-US"),
  ]

  let storage: any PushStorage
  let devices: StandInDevices
  let appMode: AppMode
  let topic: Topic
  let clock: Clock

  /// Mints and registers what is missing.
  func settle() async throws {
    for person in Self.people {
      let user = UserID(rawValue: person.id)
      guard try await storage.devices(of: user, in: appMode).isEmpty else { continue }
      for model in person.models {
        let minted = try await devices.mint(topic: topic, environment: .sandbox)
        _ = try await storage.register(
          DeviceRegistration(
            appMode: appMode, user: user, token: minted.token, platform: .ios, topic: topic, environment: .sandbox,
            attributes: DeviceAttributes(
              appVersion: "2.4.0", osVersion: "18.1", model: model, locale: person.locale, timeZone: "Asia/Seoul",
              permission: "granted", lockScreen: true),
            at: clock.wall()))
      }
    }
  }

  /// As the ready line lists them.
  func listing() async throws -> [UpReadyLine.User] {
    var users: [UpReadyLine.User] = []
    for person in Self.people {
      let registered = try await storage.devices(of: UserID(rawValue: person.id), in: appMode)
      let listed = registered.compactMap { device in
        device.token.map { token in
          UpReadyLine.Device(
            id: devices.name(of: token) ?? device.id.rawValue, token: token.hex, platform: device.platform.rawValue)
        }
      }
      users.append(UpReadyLine.User(id: person.id, devices: listed))
    }
    return users
  }
}
