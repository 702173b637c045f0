package import APNs
package import PabalModel

/// One entry of a device list.
package struct DeviceLine: Sendable {
  package enum Content: Sendable {
    case device(DeviceToken, LineDetails?)
    case bad(LineFault)
  }

  /// From 1: where the entry starts, skipped lines counted.
  package let number: Int
  package let content: Content

  package init(number: Int, content: Content) {
    self.number = number
    self.content = content
  }
}

/// What a line says beside its token.
package final class LineDetails: Sendable {
  /// The values of the variables that the payload asks for, in its order, each as one JSON value; `nil`: not given.
  package let values: [[UInt8]?]
  package let apnsID: APNsID?
  package let collapseID: String?

  package init(values: [[UInt8]?], apnsID: APNsID? = nil, collapseID: String? = nil) {
    self.values = values
    self.apnsID = apnsID
    self.collapseID = collapseID
  }
}

/// Why a line cannot be used.
package final class LineFault: Sendable {
  /// `device_token_invalid` or `line_invalid`.
  package let reason: ReasonCode
  /// What stands where a token should, cut; `nil` when no place for it was found.
  package let text: String?
  package let message: String

  package init(_ reason: ReasonCode, text: String?, message: String) {
    self.reason = reason
    self.text = text.map { String(decoding: $0.utf8.prefix(Self.shownBytes), as: UTF8.self) }
    self.message = message
  }

  /// Enough of a line to find it again.
  private static let shownBytes = 200

  convenience init(_ error: DeviceTokenError, text: String) {
    self.init(.deviceTokenInvalid, text: text, message: error.message)
  }
}
