package import PabalPrimitives

/// Why a notification type cannot be used. Found when the type is read, never when a push is sent.
package typealias NotificationTypeError = KindError<NotificationTypeErrorKind>

/// The closed list of `NotificationTypeError`.
package enum NotificationTypeErrorKind: String, Sendable {
  case template = "template_invalid"
  case member = "type_member_invalid"
  case json = "type_json_malformed"
}
