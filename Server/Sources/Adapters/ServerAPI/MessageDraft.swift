import Delivery
import PabalModel
import PabalPrimitives

/// A message as a caller asked for it, checked, before anything is decided.
struct MessageDraft: Sendable {
  let users: [UserID]
  let content: PushContent
  /// `guide` or `api`.
  let source: String
  /// The caller's words, as JSON; stored sealed.
  let words: JSONValue
}

/// What became of a draft.
struct SentMessage: Sendable {
  let id: MessageID
  /// The users that an earlier message had claimed, and that message.
  let duplicates: [UserID: MessageID]

  /// Nothing was sent: every user had been told of this before.
  var isDuplicate: Bool { duplicates.values.contains(id) }
}
