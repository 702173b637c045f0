package import PabalPrimitives

/// Why a notification type cannot be used. Found when the type is read, never when a push is sent.
package struct NotificationTypeError: CodedError {
  package enum Kind: String, Sendable {
    case template = "template_invalid"
    case member = "type_member_invalid"
    case json = "type_json_malformed"
  }

  package let kind: Kind
  package let message: String
  package let cause: (any Error)?
  package let place: Place

  init(_ kind: Kind, _ message: String, cause: (any Error)? = nil, place: Place = Place()) {
    self.kind = kind
    self.message = message
    self.cause = cause
    self.place = place
  }

  package var code: String { kind.rawValue }
}
