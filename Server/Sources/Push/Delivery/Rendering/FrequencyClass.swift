/// How often and when a type may disturb. The caps and quiet hours themselves are not built yet; the class is recorded.
package enum FrequencyClass: String, Sendable, Hashable, CaseIterable {
  case critical, transactional, urgent, conversation, `default`, marketing
}
