import PabalModel
import PabalPrimitives

/// One delivery's life: the decision's steps, the delivery's own, its attempts, its outcome and its reports, in order.
package struct DeliveryTrace: Sendable {
  package var delivery: DeliveryRecord
  package var steps: [TraceStep]

  package init(delivery: DeliveryRecord, steps: [TraceStep]) {
    self.delivery = delivery
    self.steps = steps
  }

  /// - Parameters:
  ///   - decided: the steps of the decision and of the delivery, as recorded at acceptance.
  ///   - concluded: the steps recorded with the outcome.
  package init(delivery: DeliveryRecord, decided: [TraceStep], concluded: [TraceStep]) {
    var steps = decided
    steps += delivery.attempts.map { $0.step(state: delivery.state) }
    if delivery.state.isTerminal {
      let result: StepResult =
        switch delivery.state {
        case .accepted: .accepted
        case .rejected: .rejected
        case .unknown: .unknown
        default: .stop
        }
      steps.append(
        TraceStep(
          at: delivery.updatedAt, step: .outcome, result: result,
          detail: .compact([
            "state": .string(delivery.state.rawValue), "reason": JSONValue(delivery.reason?.rawValue),
          ])))
    }
    steps += concluded
    steps += delivery.events.map { event in
      TraceStep(
        at: event.at, step: .reports, result: StepResult(rawValue: event.kind.rawValue),
        detail: .compact([
          "action": JSONValue(event.action), "name": JSONValue(event.name), "value": event.number ?? .null,
        ]))
    }
    self.init(delivery: delivery, steps: steps)
  }
}

extension AttemptRecord {
  fileprivate func step(state: DeliveryState) -> TraceStep {
    let result: StepResult =
      switch status {
      case .none: state == .unknown ? .unknown : .stop
      case .some(200): .accepted
      case .some: .rejected
      }
    return TraceStep(
      at: startedAt.advanced(by: duration), step: .attempt, result: result,
      detail: .compact([
        "n": .int(Int64(number)), "provider": "apns", "environment": .string(environment.rawValue),
        "status": JSONValue(status), "reason": JSONValue(reason), "apnsId": JSONValue(apnsID),
        "apnsUniqueId": JSONValue(apnsUniqueID), "since": JSONValue(tokenDeadSince?.rfc3339),
        "ms": .int(duration.milliseconds), "connection": .string(connection),
      ]))
  }
}

extension EventRecord {
  /// The value as the number that it is; `nil` without one.
  fileprivate var number: JSONValue? {
    value.flatMap { text in
      do { return JSONValue(try JSONSlice(parsing: Array(text.utf8))) } catch { return nil }
    }
  }
}
