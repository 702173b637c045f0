import PabalPrimitives

/// Why a device cannot be made or changed.
package enum StandInDeviceFault: Error, Equatable {
  /// There are `StandInLimits.devices` already.
  case tooMany
  /// The token belongs to another device, or to this one under another topic or environment.
  case tokenTaken
  case idTaken
  case unknownDevice
  /// A phone is linked, or was: then being online is being linked.
  case followsItsLink
  case notRegistered
}

/// A device to be made. What is left out is drawn.
package struct StandInDeviceDraft: Sendable {
  package var id: String?
  package var token: [UInt8]?
  package var environment = StandInEnvironment.sandbox
  package var topic: String
  package var state = StandInDevice.State.registered
  package var online = true

  package init(topic: String) {
    self.topic = topic
  }
}

extension StandInCore {
  /// Mints a device, or adopts one whose id and token are given. A device that is known already, by its token, stays as
  /// it is: whoever adopts it again does not bring an uninstalled app back to life.
  package mutating func addDevice(_ draft: StandInDeviceDraft) throws(StandInDeviceFault) -> StandInDevice {
    if let token = draft.token, let index = indexByToken[token] {
      let known = devices[index]
      guard known.environment == draft.environment, known.topic == draft.topic, draft.id == nil || draft.id == known.id
      else { throw .tokenTaken }
      return known
    }
    if let id = draft.id, indexByID[id] != nil { throw .idTaken }
    guard indexByID.count < StandInLimits.devices else { throw .tooMany }
    let device = StandInDevice(
      id: draft.id ?? makeDeviceID(), token: draft.token ?? randomness.fill(32), environment: draft.environment,
      topic: draft.topic, state: draft.state, presence: .selfPlaying(online: draft.online))
    let index = vacant.popFirst() ?? devices.count
    if index == devices.count { devices.append(device) } else { devices[index] = device }
    indexByToken[device.token] = index
    indexByID[device.id] = index
    bundles.insert(device.topic)
    return device
  }

  package func device(id: String) -> StandInDevice? {
    indexByID[id].map { devices[$0] }
  }

  package func device(token: [UInt8]) -> StandInDevice? {
    indexByToken[token].map { devices[$0] }
  }

  /// Devices in the order of their making, from a position on; the position after the last one, if there are more.
  package func devices(from position: Int, limit: Int) -> (page: [StandInDevice], next: Int?) {
    var page: [StandInDevice] = []
    var index = max(0, position)
    while index < devices.count, page.count < limit {
      if !vacant.contains(index) { page.append(devices[index]) }
      index += 1
    }
    return (page, index < devices.count ? index : nil)
  }

  /// Moves a device to another state; a link of a device that is not registered any more ends.
  package mutating func setState(
    _ state: StandInDevice.State, ofDevice id: String
  ) throws(StandInDeviceFault) -> [StandInAction] {
    guard let index = indexByID[id] else { throw .unknownDevice }
    devices[index].state = state
    guard state != .registered else { return [] }
    for position in devices[index].inbox.indices where devices[index].inbox[position].state == .stored {
      devices[index].inbox[position].state = .expired
    }
    return endLink(at: index)
  }

  /// Says whether a device is online. A phone leaves in good order by `false`; what it comes back by is its link.
  package mutating func setOnline(_ online: Bool, ofDevice id: String) throws(StandInDeviceFault) -> [StandInAction] {
    guard let index = indexByID[id] else { throw .unknownDevice }
    switch devices[index].presence {
    case .selfPlaying:
      devices[index].presence = .selfPlaying(online: online)
      guard online else { return [] }
      for sequence in releaseStored(at: index) { setState(.displayed, of: sequence, at: index) }
      return []
    case .followsLink:
      guard !online else { throw .followsItsLink }
      return endLink(at: index)
    }
  }

  package mutating func removeDevice(_ id: String) throws(StandInDeviceFault) -> [StandInAction] {
    guard let index = indexByID[id] else { throw .unknownDevice }
    let actions = endLink(at: index)
    indexByID[id] = nil
    indexByToken[devices[index].token] = nil
    inboxBudget.forget(devices[index].inbox)
    devices[index].inbox = []
    vacant.insert(index)
    return actions
  }

  /// Pushes to all devices or one, in the order taken, after a sequence number; their states as of now.
  package mutating func pushes(
    device id: String?, after sequence: Int, limit: Int
  ) -> [(device: StandInDevice, push: StandInPush)] {
    let chosen = id.map { id in indexByID[id].map { $0..<$0 + 1 } ?? 0..<0 } ?? devices.indices
    let now = clock.now
    var found: [(index: Int, position: Int, sequence: Int)] = []
    for index in chosen where !devices[index].inbox.isEmpty {
      expireStored(at: index, now: now)
      for (position, push) in devices[index].inbox.enumerated() where push.sequence > sequence {
        found.append((index, position, push.sequence))
      }
    }
    found.sort { $0.sequence < $1.sequence }
    return found.prefix(limit).map { (devices[$0.index], devices[$0.index].inbox[$0.position]) }
  }

  /// Requests of the wire log, oldest first, after a sequence number.
  package func requests(
    after sequence: Int, limit: Int, where holds: (WireLogEntry) -> Bool
  ) -> [WireLogEntry] {
    var page: [WireLogEntry] = []
    for entry in wireLog.newestLast where entry.sequence > sequence && holds(entry) {
      guard page.count < limit else { break }
      page.append(entry)
    }
    return page
  }

  /// Requests that fell out of the wire log.
  package var requestsDropped: Int { wireLog.dropped }

  /// Pushes that fell out of the inboxes.
  package var pushesDropped: Int { inboxBudget.dropped }

  /// Forgets what happened: faults, changed rules, inboxes, wire log, counters, seen provider tokens, the moved clock;
  /// on demand the devices too. Devices that stay keep their state; open connections and links stay open.
  package mutating func reset(devicesToo: Bool) -> [StandInAction] {
    var actions: [StandInAction] = []
    if devicesToo {
      for index in devices.indices where !vacant.contains(index) { actions += endLink(at: index) }
      devices = []
      vacant = []
      // Streams that were replaced and have not ended yet point at devices that are gone.
      deviceOfLink = [:]
      indexByID = [:]
      indexByToken = [:]
    }
    for index in devices.indices {
      devices[index].inbox = []
      if case .followsLink(.some(var link)) = devices[index].presence {
        link.queue = []
        devices[index].presence = .followsLink(link)
      }
    }
    actions += setFaults([], seed: 1)
    rules = initialRules
    wireLog.removeAll()
    inboxBudget.removeAll()
    ledger.forgetAll()
    clock.run()
    var fresh = StandInStatistics()
    fresh.openConnections = statistics.openConnections
    connectionsBefore += statistics.connections
    statistics = fresh
    return actions
  }

  private mutating func makeDeviceID() -> String {
    "sim_" + String(draws.next() >> 11, radix: 32).leftPadded(to: 11)
  }
}

extension String {
  fileprivate func leftPadded(to width: Int) -> String {
    String(repeating: "0", count: max(0, width - utf8.count)) + self
  }
}
