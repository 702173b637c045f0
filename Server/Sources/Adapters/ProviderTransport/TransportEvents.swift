internal import APNs
internal import Delivery
internal import EventLoop
internal import HTTP2
internal import HTTP2Connections
internal import PabalModel
internal import PabalPrimitives

/// What connections tell, in the words of the machines.
extension TransportCore {
  func handle(_ event: HTTP2ClientEvent, on connection: TransportConnection) {
    if case .written(let tags) = event {
      // Nothing was heard, and a turn that fills connections goes on with what this leads to.
      noteWritten(tags, on: connection)
      if !isFilling { schedulePump() }
      return
    }
    defer { schedulePump() }
    connection.wasHeard = true
    switch event {
    case .response(let tag, let response):
      receive(response, for: PushTag(rawValue: tag), on: connection)
    case .plainResponses(let tags):
      connection.accepted.append(contentsOf: tags.lazy.map(PushTag.init))
    case .ready(let limit):
      becomeReady(connection, limit: limit)
    case .maxConcurrentStreams(let limit):
      _ = connection.permits.handle(.settings(limit: limit))
    case .reset(let tag, _, let status?):
      // The provider has said what it makes of the push; only the rest of its answer is missing.
      receive(HTTP2Response(status: status), for: PushTag(rawValue: tag), on: connection)
    case .reset(let tag, _, nil):
      run(ledger.handle(.lost([PushTag(rawValue: tag)], from: connection.key), now: loop.now))
      release(1, on: connection)
    case .unprocessed(let tags):
      run(connection.goaway.handle(.unprocessed(tags.map(PushTag.init))), on: connection)
      release(tags.count, on: connection)
    case .goaway(let lastStreamID, _, let debug):
      statistics.goaways += 1
      heedGoaway(debug, on: connection)
      run(connection.goaway.handle(.goaway(lastStreamID: lastStreamID)), on: connection)
    case .streamIDsExhausted:
      statistics.connectionsReplacedForIDs += 1
      run(connection.goaway.handle(.retire), on: connection)
    case .pong, .windowOpened, .written:
      break
    case .closed(let error, let lost, let unsent):
      close(connection, error: error, lost: lost, unsent: unsent)
    }
  }

  private func becomeReady(_ connection: TransportConnection, limit: Int) {
    connection.isReady = true
    _ = connection.permits.handle(.settings(limit: limit))
    for action in pool.handle(.ready(connection.key), now: loop.now) { run(action) }
    _ = ledger.handle(.reachability(true), now: loop.now)
    countReady()
  }

  private func receive(_ response: HTTP2Response, for tag: PushTag, on connection: TransportConnection) {
    guard response.status != 200 else {
      if response.headers.count > 0, let unique = response.headers.string("apns-unique-id"), ledger.isOpen(tag) {
        uniqueIDs[tag] = unique
      }
      connection.accepted.append(tag)
      return
    }
    let now = loop.now
    let reply = APNsReply.classify(status: response.status, body: response.body)
    if ledger.isOpen(tag) { replies[tag] = reply }
    if reply.status == 500 {
      connection.isProven = false
      for action in pool.handle(.serverError(connection.key), now: now) { run(action) }
    } else {
      noteAnswered(connection, now: now)
    }
    heed(reply, generation: slots[tag.slot].tokenGeneration, on: connection, now: now)
    var refusal = ReplyRemedy.refusal(for: reply, headers: response.headers)
    // Said of a credential that has been replaced since: the new one may do better.
    if !isCurrent(connection), ReplyRemedy.isAboutCredential(reply) { refusal.remedy = .freshCredential }
    if ledger.isOpen(tag), case .later(let wait?) = refusal.remedy { retryAfters[tag] = wait }
    run(ledger.handle(.refused(tag, refusal), now: now))
    if let refusal = credential.refusal { run(ledger.handle(.credentialRefused(refusal), now: now)) }
    release(1, on: connection)
  }

  /// APNs says why in the debug data, in the form of an error reply. Anything else there is no reason.
  private func heedGoaway(_ debug: [UInt8], on connection: TransportConnection) {
    guard !debug.isEmpty else { return }
    let reply = APNsReply.classify(status: 400, body: debug)
    statistics.lastGoawayReason = reply.reason
    guard isCurrent(connection), ReplyRemedy.isAboutCredential(reply), let reason = reply.reasonCode else { return }
    credential.handle(.credentialRefused(reason), now: loop.now)
  }

  /// Whether a connection was dialled for the credential in use.
  func isCurrent(_ connection: TransportConnection) -> Bool {
    connection.credentialNumber == credentialNumber
  }

  /// What a refusal says about more than its push.
  private func heed(_ reply: APNsReply, generation: Int, on connection: TransportConnection, now: Instant) {
    if reply.verdict == .retryOnNewConnection {
      run(connection.goaway.handle(.retire), on: connection)
    } else if !isCurrent(connection) {
      return
    } else if reply.verdict == .reauthenticate {
      credential.handle(.refusedAsExpired(generation: generation), now: now)
    } else if reply.reason == "TooManyProviderTokenUpdates" {
      credential.handle(.refusedAsTooMany(generation: generation), now: now)
    } else if ReplyRemedy.isAboutCredential(reply), let reason = reply.reasonCode {
      credential.handle(.credentialRefused(reason), now: now)
    }
  }

  func noteAnswered(_ connection: TransportConnection, now: Instant) {
    guard !connection.isProven else { return }
    connection.isProven = true
    for action in pool.handle(.answered(connection.key), now: now) { run(action) }
  }

  private func close(
    _ connection: TransportConnection, error: HTTP2ConnectionError, lost: [UInt64], unsent: [UInt64]
  ) {
    guard connections.contains(where: { $0 === connection }) else { return }
    connections.removeAll { $0 === connection }
    connection.detach()
    // Answers that came with the end are still in hand: they come first.
    connection.wasHeard = true
    let accepted = connection.accepted
    connection.accepted = []
    let now = loop.now
    if !accepted.isEmpty { noteAnswered(connection, now: now) }
    run(ledger.handle(.accepted(accepted), now: now))
    statistics.lastConnectionError = error
    countReady()
    let left = lost.count + unsent.count + accepted.count
    run(
      connection.goaway.handle(.closed(lost: lost.map(PushTag.init), unsent: unsent.map(PushTag.init))),
      on: connection)
    _ = permits.handle(.closed(left))
    for action in pool.handle(.closed(connection.key), now: now) { run(action) }
    _ = ledger.handle(.reachability(statistics.connectionsReady > 0), now: now)
  }

  func release(_ count: Int, on connection: TransportConnection) {
    if case .drained = connection.permits.handle(.closed(count)) {
      run(connection.goaway.handle(.drained), on: connection)
    }
    _ = permits.handle(.closed(count))
  }

  private func countReady() {
    statistics.connectionsReady = connections.count { $0.isReady }
  }
}
