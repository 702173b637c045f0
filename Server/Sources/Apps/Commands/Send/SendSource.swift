import APNs
import ArgumentParsing
import PabalModel
import PabalPrimitives
import ProviderTransport

/// A part of the list on its way to the engine.
struct SendBlock: Sendable {
  let number: UInt64
  /// One for each push of the batch, in the same order.
  var entries: [SendTokens.Entry] = []
  var batch = PushBatch()
  /// Lines that end without a push.
  var ended: [OutcomeLine] = []
  var isLast = false
  /// Why nothing comes after it, though the list may go on.
  var failure: (any CodedError)?
}

/// Makes pushes out of lines, block by block.
///
/// What it does may block (files, the journal's disk) and takes time (rendering): call it on a thread of its own.
final class SendSource: Sendable {
  private enum Lines: Sendable {
    case listed([DeviceLine], next: Int)
    case read(DeviceLines)
  }

  private struct State {
    var lines: Lines
    var seen: TokenFingerprints?
    var nextBlock: UInt64 = 0
  }

  private let plan: SendPlan
  private let terms: SendTerms
  private let journal: SendJournal?
  private let clock: Clock
  private let randomness: Randomness
  private let isStopped: @Sendable () -> Bool
  private let state: Locked<State>

  /// - Parameter isStopped: once `true`, the rest of the list ends `canceled`, and a silent stream ends.
  init(
    _ plan: SendPlan, terms: SendTerms, journal: SendJournal?, clock: Clock, randomness: Randomness,
    isStopped: @escaping @Sendable () -> Bool
  ) throws(UsageError) {
    self.plan = plan
    self.terms = terms
    self.journal = journal
    self.clock = clock
    self.randomness = randomness
    self.isStopped = isStopped
    let lines: Lines
    switch plan.list.source {
    case .listed(let listed): lines = .listed(listed, next: 0)
    case .file(let file, let format):
      lines = .read(try DeviceLines(file, format: format, variables: plan.content.variables))
    case .stream(let file, let format):
      lines = .read(
        try DeviceLines(file, format: format, variables: plan.content.variables, isStopped: isStopped))
    }
    let seen = plan.list.isUnique ? TokenFingerprints(count: plan.list.count ?? 0) : nil
    state = Locked(State(lines: lines, seen: seen))
  }

  /// At most `size` pushes and as many lines that end without one.
  func next(_ size: Int) -> SendBlock {
    var block = state.withLock { state in
      var block = SendBlock(number: state.nextBlock)
      state.nextBlock += 1
      fill(&block, from: &state, size)
      return block
    }
    guard let journal, !block.entries.isEmpty else { return block }
    do {
      try journal.handOver(block.entries.map(\.line))
    } catch {
      block.failure = error
      for entry in block.entries {
        block.ended.append(
          OutcomeLine(line: entry.line, device: entry.token, state: .canceled, reason: .interrupted))
      }
      block.entries = []
      block.batch = PushBatch()
    }
    return block
  }

  private func fill(_ block: inout SendBlock, from state: inout State, _ size: Int) {
    // One draw for the whole block: the system's generator is dearer than the push.
    let random = journal == nil ? randomness.fill(16 * size) : []
    block.entries.reserveCapacity(size)
    block.batch = PushBatch(reserving: size)
    let isStream = plan.list.count == nil
    let isLate = plan.head.expiration?.isPast(at: clock.wall()) ?? false
    do throws(UsageError) {
      while block.entries.count < size, block.ended.count < size {
        // What has come is sent, rather than waiting for more of it.
        if isStream, block.entries.count + block.ended.count > 0, !Self.isReady(state.lines) { return }
        guard let line = try Self.nextLine(&state.lines) else {
          block.isLast = true
          return
        }
        take(line, isLate: isLate, into: &block, &state.seen, random)
      }
    } catch {
      // The file went away under us: what was read is sent, the rest cannot be named.
      block.failure = ListFailure(error)
      block.isLast = true
    }
  }

  private static func isReady(_ lines: Lines) -> Bool {
    switch lines {
    case .listed: true
    case .read(let reader): reader.isReady
    }
  }

  private static func nextLine(_ lines: inout Lines) throws(UsageError) -> DeviceLine? {
    switch lines {
    case .listed(let listed, let next):
      guard next < listed.count else { return nil }
      lines = .listed(listed, next: next + 1)
      return listed[next]
    case .read(var reader):
      // Moved out and in again, so that its buffer is not copied.
      lines = .listed([], next: 0)
      defer { lines = .read(reader) }
      return try reader.next()
    }
  }

  /// - Parameter isLate: the expiration is over, and nothing is sent any more.
  private func take(
    _ line: DeviceLine, isLate: Bool, into block: inout SendBlock, _ seen: inout TokenFingerprints?, _ random: [UInt8]
  ) {
    guard journal?.found.ended.contains(line.number) != true else {
      if case .device(let token, _) = line.content { _ = seen?.insert(token.bytes) }
      return
    }
    switch line.content {
    case .bad(let fault):
      block.ended.append(
        OutcomeLine(line: line.number, device: nil, text: fault.text, state: .rejected, reason: fault.reason))
    case .device(let token, let details):
      let end = { (state: DeliveryState, reason: ReasonCode) in
        OutcomeLine(line: line.number, device: token, state: state, reason: reason)
      }
      guard seen?.insert(token.bytes) != false else { return block.ended.append(end(.canceled, .duplicate)) }
      let isLost = journal?.found.handedOver.contains(line.number) == true
      let mayRepeat = terms.repeatsUnknown || details?.collapseID != nil
      if isLost, isLate || !mayRepeat { return block.ended.append(end(.unknown, .replyLost)) }
      guard !isStopped() else { return block.ended.append(end(.canceled, .interrupted)) }
      guard !isLate else { return block.ended.append(end(.expired, .timeToLiveElapsed)) }
      switch plan.content.payload(for: details) {
      case .rejected(let reason): block.ended.append(end(.rejected, reason))
      case .payload(let payload): add(line.number, token, details, payload, to: &block, random)
      }
    }
  }

  private func add(
    _ line: Int, _ token: DeviceToken, _ details: LineDetails?, _ payload: APNsPayload, to block: inout SendBlock,
    _ random: [UInt8]
  ) {
    let index = block.entries.count
    let head = details?.collapseID.flatMap(plan.head(collapseID:)) ?? plan.head
    let apnsID =
      details?.apnsID ?? plan.apnsID ?? journal?.apnsID(line: line)
      ?? APNsID(octets: random, from: 16 * index)
    block.entries.append(SendTokens.Entry(line: line, token: token))
    var granted = terms.push
    if head.collapseID != nil { granted.repeatsUnknown = true }
    let content = block.batch.content(head, payload)
    block.batch.append(
      to: token, content, tag: block.number * UInt64(SendTokens.blockSize) + UInt64(index), apnsID: apnsID,
      terms: granted)
  }
}

/// What every push of a run is granted.
struct SendTerms: Sendable {
  let push: PushTerms

  var repeatsUnknown: Bool { push.repeatsUnknown }
  var expiresAt: WallTime? { push.expiresAt }

  init(_ plan: SendPlan, now: WallTime) {
    let ends = plan.timeout.map { now.advanced(by: $0) }
    // The end of the run or of the push, whichever is sooner.
    var expiresAt = ends
    if case .at(let expiration)? = plan.head.expiration { expiresAt = ends.map { min($0, expiration) } ?? expiration }
    // What is for now or never has no later to be repeated at.
    let repeats = plan.head.expiration == .attemptOnce ? 0 : plan.repeats
    push = PushTerms(
      expiresAt: expiresAt, repeatsUnknown: plan.repeatsUnknown || plan.head.collapseID != nil,
      attemptLimit: repeats + 1)
  }
}

/// A list that was readable and is no more.
struct ListFailure: ExitingError {
  let message: String
  let cause: (any Error)?
  let place: Place

  var code: String { "list_unreadable" }
  var exitCode: ExitCode { .failure }

  init(_ cause: UsageError, file: String = #fileID, line: Int = #line) {
    self.cause = cause
    self.place = Place(file: file, line: line)
    message = "\(cause.message) The lines before it were sent; the rest were not, and have no outcome."
  }
}
