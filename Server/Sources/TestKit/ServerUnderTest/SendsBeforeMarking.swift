import PabalModel
import PabalPrimitives
import Storage
import StorageConformance

/// The planted mistake: a message is accepted, sent, and only its outcome tells the store that it was under way. After
/// a crash in between it looks unsent and goes out a second time.
enum SendsBeforeMarking {
  static func layer(over inner: any PushStorage) -> any PushStorage {
    var layer = StorageLayer(over: inner)
    layer.accepting = { inner, acceptance throws(StorageError) in try await accept(acceptance, in: inner) }
    return layer
  }

  private static func accept(
    _ acceptance: MessageAcceptance, in inner: any PushStorage
  ) async throws(StorageError) -> AcceptanceResult {
    var unmarked = acceptance
    unmarked.start = .queued
    guard case .accepted = try await inner.accept(unmarked) else { return try await inner.accept(unmarked) }
    let snapshot = try await inner.snapshot(of: acceptance.decisions.map(\.user), in: acceptance.appMode)
    let devices = snapshot.users.flatMap(\.devices)
    return .accepted(
      acceptance.deliveries.compactMap { delivery in
        let key = DeliveryKey(message: acceptance.identity.number, device: delivery.device)
        guard let device = devices.first(where: { $0.number == delivery.device }), let token = device.token,
          let push = delivery.push
        else { return nil }
        let id = OpaqueID(
          high: UInt64(bitPattern: key.message.rawValue), low: UInt64(bitPattern: key.device.rawValue))
        return OutgoingDelivery(
          appMode: acceptance.appMode, key: key, id: inner.deliveryID(for: key), messageID: acceptance.identity.id,
          user: delivery.user, apnsID: id.uuid, token: token, topic: device.topic, environment: device.environment,
          environmentIsLearned: device.environmentIsLearned, push: push, lifetime: acceptance.lifetime)
      })
  }
}
