import PabalModel
import Storage

/// What "why did this user not get it?" comes down to, best first for the user.
enum AnswerClass: String, Sendable, CaseIterable {
  case opened
  case received
  case providerAccepted = "provider_accepted"
  case stillWaiting = "still_waiting"
  case weDoNotKnow = "we_do_not_know"
  case providerRefused = "provider_refused"
  case weChoseNotTo = "we_chose_not_to"
  case neverAsked = "never_asked"

  init(_ delivery: DeliveryRecord) {
    let kinds = Set(delivery.events.map(\.kind))
    // A tap on an action opens as well; a dismissal proves that it was shown.
    if !kinds.isDisjoint(with: [.opened, .action]) {
      self = .opened
    } else if !kinds.isDisjoint(with: [.received, .presented, .dismissed]) {
      self = .received
    } else {
      switch delivery.state {
      case .accepted: self = .providerAccepted
      case .queued, .held, .sending, .retrying: self = .stillWaiting
      case .unknown: self = .weDoNotKnow
      case .rejected: self = delivery.attempts.isEmpty ? .weChoseNotTo : .providerRefused
      case .expired, .suppressed, .canceled: self = .weChoseNotTo
      }
    }
  }

  var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
