/// The market's own server, as far as its notifications' buttons need it. Pabal is not involved.
///
/// Each call carries the interaction's id as idempotency key: after a crash the same button is told once more.
public struct TalentMarketBackend: Sendable {
  public var accept: @Sendable (_ requestID: String, _ idempotencyKey: String) async -> Void
  public var decline: @Sendable (_ requestID: String, _ idempotencyKey: String) async -> Void
  public var reply: @Sendable (_ roomID: String, _ text: String, _ idempotencyKey: String) async -> Void

  @TaskLocal public static var current = TalentMarketBackend(
    accept: { _, _ in }, decline: { _, _ in }, reply: { _, _, _ in })

  public init(
    accept: @escaping @Sendable (_ requestID: String, _ idempotencyKey: String) async -> Void,
    decline: @escaping @Sendable (_ requestID: String, _ idempotencyKey: String) async -> Void,
    reply: @escaping @Sendable (_ roomID: String, _ text: String, _ idempotencyKey: String) async -> Void
  ) {
    self.accept = accept
    self.decline = decline
    self.reply = reply
  }
}
