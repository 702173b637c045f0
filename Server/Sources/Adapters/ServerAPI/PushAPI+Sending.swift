import Delivery
import HTTPServer
import PabalModel
import Observability
import PabalPrimitives
import Storage

// The way of a message: snapshot, decision, acceptance in one commit, hand-over to the dispatcher.
extension PushAPI {
  /// How often a decision is made anew because a user's devices or preferences changed under it.
  private static let decisionAttempts = 8

  /// Accepts a message and sends it.
  ///
  /// - Parameter wait: How long to wait for the outcomes; zero returns after the commit.
  /// - Throws: `APIError`, `StorageError`; nothing was sent then.
  func send(_ draft: MessageDraft, _ request: HTTPRequest, wait: Duration) async throws -> SentMessage {
    var duplicates: [UserID: MessageID] = [:]
    let created = now
    let identity = storage.reserveMessage(at: created)
    for _ in 0..<Self.decisionAttempts {
      let position = dispatcher.position()
      let users = draft.users.filter { duplicates[$0] == nil }
      let snapshot = try await storage.snapshot(of: users, in: configuration.appMode)
      let acceptance = decide(draft, snapshot, identity, request.requestID, at: created)
      if draft.source == "api" { try Self.refuseIfTooLarge(acceptance) }
      switch try await storage.accept(acceptance) {
      case .accepted(let deliveries):
        note(acceptance)
        await dispatcher.dispatch(deliveries, wait, position)
        return SentMessage(id: identity.id, duplicates: duplicates)
      case .duplicate(let claims):
        for claim in claims { duplicates[claim.user] = claim.heldBy }
        if let first = claims.first, duplicates.count == draft.users.count {
          return SentMessage(id: first.heldBy, duplicates: duplicates)
        }
      case .stale: continue
      }
    }
    throw APIError(
      503, .server, "unavailable", "The user's devices kept changing while the push was decided; ask again.",
      headers: [HTTPField("Retry-After", "1")])
  }

  /// Texts that fit no device at all are the caller's mistake, and he is still there to hear of it. The guide's routes
  /// have no such answer: they report the devices as suppressed.
  private static func refuseIfTooLarge(_ acceptance: MessageAcceptance) throws(APIError) {
    let deliveries = acceptance.deliveries
    guard !deliveries.isEmpty, deliveries.allSatisfy({ $0.push == nil && $0.reason == .payloadTooLarge }) else {
      return
    }
    let sizes = deliveries.compactMap { delivery -> Int64? in
      guard case .object(let members) = delivery.steps.first(where: { $0.step == .render })?.detail,
        case .int(let bytes) = members.first(where: { $0.name == "bytes" })?.value
      else { return nil }
      return bytes
    }
    throw APIError(
      400, .invalidRequest, "payload_too_large",
      "The notification would have \(sizes.max() ?? 0) bytes; APNs takes \(NotificationLimits.payloadBytes).",
      parameter: "content",
      hint: "Shorten the title, the link or the data. Only a body is cut to fit. Nothing was sent or stored.")
  }

  private func decide(
    _ draft: MessageDraft, _ snapshot: AudienceSnapshot, _ identity: MessageIdentity, _ requestID: String,
    at created: WallTime
  ) -> MessageAcceptance {
    let request = DecisionRequest(
      message: identity.id, content: draft.content, requestID: requestID, source: draft.source, now: created)
    var decisions: [AcceptedDecision] = []
    var deliveries: [AcceptedDelivery] = []
    for member in snapshot.users {
      let decision = DecisionMaker().decide(request, for: candidate(member, identity))
      decisions.append(
        AcceptedDecision(
          user: member.id, reason: decision.reason, steps: Self.traced(decision.steps, at: created)))
      deliveries += decision.devices.compactMap { plan in
        guard let device = member.devices.first(where: { $0.id == plan.device }) else { return nil }
        return accepted(plan, device.number, member.id, draft.content, at: created)
      }
    }
    let type = draft.content.type
    return MessageAcceptance(
      appMode: configuration.appMode, identity: identity, type: type?.name ?? "content",
      typeVersion: type?.version ?? 0, category: type?.category,
      frequencyClass: (type?.frequencyClass ?? .transactional).rawValue, source: draft.source, requestID: requestID,
      content: draft.words.encoded, createdAt: created,
      lifetime: PushLifetime(draft.content.timeToLive, from: created),
      dedupe: draft.content.dedupeKey.map { key in
        MessageAcceptance.Dedupe(key: key, window: type?.dedupeWindow ?? .seconds(0))
      },
      decisions: decisions, deliveries: deliveries, seenChange: snapshot.change, start: .marked)
  }

  private func candidate(_ member: AudienceMember, _ identity: MessageIdentity) -> Candidate {
    Candidate(
      user: member.id, isKnown: member.number != nil,
      preferences: member.preferences.settings.mapValues { Candidate.Preference(isOn: $0.isOn, setAt: $0.setAt) },
      devices: member.devices.map { device in
        Candidate.Device(
          id: device.id,
          delivery: storage.deliveryID(for: DeliveryKey(message: identity.number, device: device.number)),
          platform: device.platform, isActive: device.status == .active, hasToken: device.token != nil,
          locale: device.attributes.locale, hasServiceExtension: device.attributes.hasServiceExtension ?? false)
      })
  }

  private func accepted(
    _ plan: UserDecision.DevicePlan, _ device: DeviceNumber, _ user: UserID, _ content: PushContent,
    at created: WallTime
  ) -> AcceptedDelivery {
    let steps = Self.traced(plan.steps, at: created)
    switch plan.plan {
    case .leaveOut(let reason):
      return AcceptedDelivery(user: user, device: device, push: nil, reason: reason, steps: steps)
    case .send(let push):
      return AcceptedDelivery(
        user: user, device: device,
        push: OutgoingPush(
          payload: push.payload, pushType: "alert", priority: content.priority.apns, collapseID: content.collapseKey),
        steps: steps)
    }
  }

  private static func traced(_ steps: [DecisionStep], at time: WallTime) -> [TraceStep] {
    steps.map { TraceStep(at: time, step: $0.step, result: $0.result, detail: $0.detail) }
  }

  private func note(_ acceptance: MessageAcceptance) {
    let metrics = configuration.metrics
    let mode = configuration.appMode.mode.rawValue
    let type = ShippedTypes.all[acceptance.type] == nil ? "content" : acceptance.type
    metrics.add(to: APIMetrics.messages, [mode, acceptance.source, type, "accepted"])
    for decision in acceptance.decisions {
      guard let reason = decision.reason, let stage = decision.steps.last?.step else { continue }
      metrics.add(to: APIMetrics.decisions, [mode, stage.rawValue, reason.rawValue, type])
    }
    for delivery in acceptance.deliveries {
      if let push = delivery.push {
        metrics.observe(Double(push.payload.count), in: APIMetrics.payload, ["apns"])
      } else if let reason = delivery.reason {
        metrics.add(to: APIMetrics.decisions, [mode, PipelineStep.render.rawValue, reason.rawValue, type])
      }
    }
  }
}
