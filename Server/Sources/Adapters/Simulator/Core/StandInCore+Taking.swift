extension StandInCore {
  /// Puts a good push into its device's inbox, and counts it. A refused one is left alone.
  mutating func take(_ request: StandInRequest, _ receipt: Receipt) -> [StandInAction] {
    guard case .success(let good) = receipt.verdict else { return [] }
    statistics.taken += 1
    pushSequence += 1
    guard rules.keepsInbox else { return [] }
    let push = StandInPush(
      sequence: pushSequence, apnsID: receipt.apnsID, uniqueID: receipt.uniqueID, topic: good.topic,
      pushType: good.pushType, priority: good.priority, expiration: good.expiration, collapseID: good.collapseID,
      receivedAt: receipt.at, payload: request.body, state: .stored)
    add(push, to: good.device)
    return deliver(push, to: good.device)
  }

  private mutating func deliver(_ push: StandInPush, to index: Int) -> [StandInAction] {
    switch devices[index].presence {
    case .selfPlaying(online: true):
      if let collapse = push.collapseID { replaceDisplayed(collapse, before: push.sequence, at: index) }
      setState(.displayed, of: push.sequence, at: index)
      return []
    case .followsLink(.some(var link)):
      link.queue.append(push.sequence)
      if link.queue.count > StandInLimits.inboxPerDevice { link.queue.removeFirst() }
      devices[index].presence = .followsLink(link)
      return [.wake(link.id)]
    case .selfPlaying(online: false), .followsLink(nil):
      store(push.sequence, at: index)
      return []
    }
  }

  /// Keeps one push for an offline device, the newest; none that may not be stored. Apple keeps one per device and
  /// bundle id, and a device of the stand-in is one app on one phone.
  mutating func store(_ sequence: Int, at index: Int) {
    guard let push = devices[index].inbox.first(where: { $0.sequence == sequence }) else { return }
    guard push.expiration != 0, !push.isOver(at: clock.now) else {
      setState(.expired, of: sequence, at: index)
      return
    }
    for position in devices[index].inbox.indices
    where devices[index].inbox[position].state == .stored {
      let other = devices[index].inbox[position].sequence
      if other < sequence { devices[index].inbox[position].state = .replaced }
    }
    setState(.stored, of: sequence, at: index)
  }

  /// Stored pushes past their time become `expired`.
  mutating func expireStored(at index: Int, now: Int64) {
    for position in devices[index].inbox.indices
    where devices[index].inbox[position].state == .stored && devices[index].inbox[position].isOver(at: now) {
      devices[index].inbox[position].state = .expired
    }
  }

  /// The stored pushes of a device that came online, in order; those past their time become `expired`.
  mutating func releaseStored(at index: Int) -> [Int] {
    var released: [Int] = []
    for position in devices[index].inbox.indices where devices[index].inbox[position].state == .stored {
      if devices[index].inbox[position].isOver(at: clock.now) {
        devices[index].inbox[position].state = .expired
      } else {
        released.append(devices[index].inbox[position].sequence)
      }
    }
    return released
  }

  mutating func setState(_ state: StandInPush.State, of sequence: Int, at index: Int) {
    guard let position = position(of: sequence, at: index) else { return }
    devices[index].inbox[position].state = state
  }

  func position(of sequence: Int, at index: Int) -> Int? {
    devices[index].inbox.lastIndex { $0.sequence == sequence }
  }

  /// A device that plays itself shows the newer of two pushes with one collapse id.
  private mutating func replaceDisplayed(_ collapse: String, before sequence: Int, at index: Int) {
    for position in devices[index].inbox.indices {
      let push = devices[index].inbox[position]
      if push.collapseID == collapse, push.state == .displayed, push.sequence < sequence {
        devices[index].inbox[position].state = .replaced
      }
    }
  }

  private mutating func add(_ push: StandInPush, to index: Int) {
    devices[index].inbox.append(push)
    inboxBudget.added(push, to: index)
    if devices[index].inbox.count > StandInLimits.inboxPerDevice {
      // What waits for the device outlives what it has had.
      let position = devices[index].inbox.firstIndex { $0.state != .stored } ?? 0
      inboxBudget.removed(devices[index].inbox.remove(at: position))
    }
    while let oldest = inboxBudget.next(limit: rules.inboxBytes) {
      guard oldest.device < devices.count, let position = position(of: oldest.sequence, at: oldest.device) else {
        continue
      }
      inboxBudget.removed(devices[oldest.device].inbox.remove(at: position))
    }
    inboxBudget.sweep { device, sequence in
      devices[device].inbox.contains { $0.sequence == sequence }
    }
  }

  /// Writes one line of the wire log. `outcome` is what was replied, if anything.
  ///
  /// - Parameter index: of the device, if the checks have found it.
  mutating func log(
    _ request: StandInRequest, _ index: Int?, at: Int64, _ outcome: Outcome?, faultRule: Int?, taken: Bool
  ) {
    wireSequence += 1
    guard rules.logsRequests, let connection = connections[request.connection] else { return }
    let device = (index ?? deviceIndex(request)).map { devices[$0].id }
    wireLog.append(
      WireLogEntry(
        sequence: wireSequence, connection: request.connection, environment: connection.environment,
        stream: request.stream, headers: redacted(request.headers, connection), bodyBytes: request.body.count,
        status: outcome?.status, reason: outcome?.reason, detail: outcome?.detail, faultRule: faultRule,
        device: device, taken: taken, at: at))
  }

  private func deviceIndex(_ request: StandInRequest) -> Int? {
    let token = DevicePath(request.headers.first { $0.name == ":path" }?.value ?? "").token
    return token.flatMap(DeviceTokenText.bytes).flatMap { indexByToken[$0] }
  }

  private func redacted(_ headers: [StandInHeader], _ connection: Connection) -> [StandInHeader] {
    headers.map { header in
      guard header.name == "authorization" else { return header }
      if header.value == connection.lastAuthorization, let token = connection.lastToken {
        return StandInHeader(header.name, "sha256:" + token.digest)
      }
      return StandInHeader(header.name, "sha256:" + digest(header.value))
    }
  }
}
