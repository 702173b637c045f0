/// The headers that many requests share, in the forms that header compression has for them.
///
/// Order on the wire: `:method :scheme :authority :path`, the constant headers, the unique header. Always a POST over
/// https. Make a new one when a value changes (a provider token rotates); requests already submitted keep theirs alive.
package final class HTTP2HeaderTemplate: Sendable {
  let authority: HeaderField
  let constants: [HeaderField]
  /// Of the unique header, encoded.
  let uniqueName: [UInt8]

  /// - Parameters:
  ///   - headers: names in lower case, in the order to be sent.
  ///   - varying: names of those whose values last for few templates. They are kept out of the compression table, which
  ///     they would only churn.
  ///   - uniqueHeader: the name of the one header whose value differs for each request (`apns-id`). It is kept out of
  ///     the table, too.
  package init(
    authority: String, headers: [(String, String)], varying: Set<String> = [], uniqueHeader: String
  ) {
    let maker = HeaderFieldMaker()
    self.authority = maker.field(Array(":authority".utf8), Array(authority.utf8), mayBeIndexed: true)
    constants = headers.map { name, value in
      maker.field(Array(name.utf8), Array(value.utf8), mayBeIndexed: !varying.contains(name))
    }
    uniqueName = maker.nameAlone(Array(uniqueHeader.utf8))
  }
}

/// The templates of requests whose header sections have not left yet.
///
/// Counted by hand, because a reference for each request would cost more than all else that is done for its headers.
struct TemplateShelf {
  private struct Place {
    var template: HTTP2HeaderTemplate?
    var uses = 0
  }

  private var places: [Place] = []
  private var free: [Int32] = []
  /// Of the last request; stays while it is.
  private var current: Int32?

  /// - Returns: the template's place, for one request.
  mutating func take(_ template: HTTP2HeaderTemplate) -> Int32 {
    if let current, places[Int(current)].template === template {
      places[Int(current)].uses += 1
      return current
    }
    if let current, places[Int(current)].uses == 0 { clear(current) }
    let place = free.popLast() ?? Int32(places.count)
    if Int(place) == places.count { places.append(Place()) }
    places[Int(place)] = Place(template: template, uses: 1)
    current = place
    return place
  }

  subscript(place: Int32) -> HTTP2HeaderTemplate {
    guard let template = places[Int(place)].template else { preconditionFailure("a request lost its headers") }
    return template
  }

  /// The header section has left, or never will.
  mutating func giveBack(_ place: Int32) {
    places[Int(place)].uses -= 1
    if places[Int(place)].uses == 0, place != current { clear(place) }
  }

  private mutating func clear(_ place: Int32) {
    places[Int(place)].template = nil
    free.append(place)
  }
}
