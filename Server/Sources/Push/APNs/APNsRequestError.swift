package import PabalPrimitives

/// A request that APNs would refuse, or that would not do what its sender wants; found before anything is sent.
package struct APNsRequestError: CodedError, Equatable {
  package let code: String
  package let message: String
  package let place: Place

  package init(code: String, message: String, place: Place = Place()) {
    self.code = code
    self.message = message
    self.place = place
  }

  package static func == (left: APNsRequestError, right: APNsRequestError) -> Bool {
    left.code == right.code && left.message == right.message
  }
}

extension APNsRequestError {
  static func payload(_ message: String, place: Place = Place()) -> APNsRequestError {
    APNsRequestError(code: "payload_invalid", message: message, place: place)
  }

  static func header(_ message: String, place: Place = Place()) -> APNsRequestError {
    APNsRequestError(code: "header_invalid", message: message, place: place)
  }
}
