package import PabalModel
import PabalPrimitives

/// What a registration does to the registry, given the rows that it met. Both stores follow it.
package enum RegistrationPlan: Sendable {
  case superseded(DeviceRecord)
  /// A new row. An install gets a secret.
  case create
  /// `device` as it shall stand; `removes`: the row that held the token and goes.
  case update(
    device: DeviceRecord, status: RegistrationResult.Status, removes: DeviceRecord?, mintsSecret: Bool)
}

/// A row and what is known of its install's secret.
package struct RegisteredInstall: Sendable {
  package enum Proof: Sendable {
    case notPresented
    case right
    case wrong
  }

  package var device: DeviceRecord
  package var proof: Proof
  /// Whether the install has ever shown that it knows its secret.
  package var isProven: Bool

  package init(device: DeviceRecord, proof: Proof, isProven: Bool) {
    self.device = device
    self.proof = proof
    self.isProven = isProven
  }
}

extension RegistrationPlan {
  /// - Parameters:
  ///   - own: the row with the registration's install id.
  ///   - holder: the row with its token.
  package static func plan(
    _ registration: DeviceRegistration, own: RegisteredInstall?, holder: DeviceRecord?
  ) throws(StorageError) -> RegistrationPlan {
    guard registration.install != nil || registration.token != nil else {
      throw StorageError(.invalidCall, "A registration needs a token or an install id.")
    }
    guard let own else {
      guard let holder else { return .create }
      return update(holder, by: registration, removing: nil, mintsSecret: registration.install != holder.install)
    }
    if registration.epoch < own.device.epoch { return .superseded(own.device) }
    // The answer that carried the secret may have been lost: until an install has shown one, it may leave without.
    let mayLeave = own.proof == .right || (own.proof == .notPresented && !own.isProven)
    if registration.user == nil, !mayLeave {
      throw StorageError(
        .installSecretWrong,
        "Signing an install out needs its secret. Send the installSecret that its first registration answered.")
    }
    let other = holder.flatMap { $0.number == own.device.number ? nil : $0 }
    let mints = !own.isProven && own.proof != .right
    return update(own.device, by: registration, removing: other, mintsSecret: mints)
  }

  private static func update(
    _ old: DeviceRecord, by registration: DeviceRegistration, removing other: DeviceRecord?, mintsSecret: Bool
  ) -> RegistrationPlan {
    var new = old
    new.user = registration.user
    new.install = registration.install ?? old.install
    new.epoch = registration.install == nil ? old.epoch : registration.epoch
    new.token = registration.token ?? old.token
    new.platform = registration.platform
    new.topic = registration.topic ?? old.topic
    new.attributes = registration.attributes.merged(over: old.attributes)
    new.status = .active
    new.inactiveReason = nil
    new.inactiveSince = nil
    new.registeredAt = registration.at
    let isSameToken = new.token == old.token
    if !isSameToken { new.environmentIsLearned = false }
    if let said = registration.environment, !new.environmentIsLearned { new.environment = said }
    return .update(
      device: new, status: status(of: new, before: old, removed: other), removes: other,
      mintsSecret: mintsSecret && registration.install != nil)
  }

  private static func status(
    of new: DeviceRecord, before old: DeviceRecord, removed other: DeviceRecord?
  ) -> RegistrationResult.Status {
    if let user = new.user {
      if let before = old.user, before != user { return .reassigned }
      if let before = other?.user, before != user { return .reassigned }
    }
    return new.isSameState(as: old) && other == nil ? .unchanged : .updated
  }
}

extension DeviceRecord {
  /// A new row for a registration that met none.
  package init(number: DeviceNumber, id: DeviceID, creating registration: DeviceRegistration) {
    self.init(
      number: number, id: id, user: registration.user, install: registration.install,
      epoch: registration.install == nil ? 0 : registration.epoch, token: registration.token,
      platform: registration.platform, topic: registration.topic, environment: registration.environment,
      environmentIsLearned: false, status: .active, inactiveReason: nil, attributes: registration.attributes,
      createdAt: registration.at, registeredAt: registration.at)
  }

  /// Equal in everything but the time of registration.
  package func isSameState(as other: DeviceRecord) -> Bool {
    user == other.user && install == other.install && epoch == other.epoch && token == other.token
      && platform == other.platform && topic == other.topic && environment == other.environment
      && environmentIsLearned == other.environmentIsLearned && status == other.status
      && attributes == other.attributes
  }
}
