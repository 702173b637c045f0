/// One connection of a pool. Numbers are never used again within a process.
package struct ConnectionKey: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  package static func < (left: ConnectionKey, right: ConnectionKey) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// One push inside the machines: a slot of the ledger and the slot's generation.
///
/// The generation lets a late event of a finished push be told from an event of the slot's next user. The raw value
/// travels as the tag of an HTTP/2 request.
package struct PushTag: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  package init(slot: Int, generation: UInt32) {
    rawValue = UInt64(generation) << 32 | UInt64(UInt32(slot))
  }

  package var slot: Int { Int(rawValue & 0xFFFF_FFFF) }
  package var generation: UInt32 { UInt32(rawValue >> 32) }
}

/// Deliberate faults for the simulation: a run with one of them must fail, or the simulation proves nothing.
///
/// Reached through `package` initialisers only; no flag, file or environment variable leads here.
package enum PlantedBug: Sendable, CaseIterable {
  /// A push that the provider took goes back into the line now and then.
  case resendAccepted
  /// A permit is not given back now and then.
  case leakPermit
  /// What a second GOAWAY gives up is forgotten.
  case dropOnSecondGoaway
  /// One body byte more than the peer's window holds is sent.
  case windowOffByOne
  /// Each refusal as expired makes another provider token.
  case remintLoop
  /// An outcome is not told now and then.
  case loseOutcome
}
