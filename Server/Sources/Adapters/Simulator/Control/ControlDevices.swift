import HTTPServer
import PabalPrimitives

extension StandInControl {
  func listDevices(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let query = try ControlQuery(request, known: ["token", "limit", "cursor"])
    if let text = query.text("token") {
      let token = try ControlBody.token(text, "token")
      let device = core.withLock { $0.device(token: token) }
      return ControlOutput.list(device.map { [ControlOutput.device($0)] } ?? [], next: nil)
    }
    let (limit, cursor) = (try query.limit(), try query.cursor())
    let (page, next) = core.withLock { $0.devices(from: cursor, limit: limit) }
    return ControlOutput.list(page.map { ControlOutput.device($0) }, next: next)
  }

  /// One device answers as itself, `count` of them as `{"data":[…]}`.
  func createDevices(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let known = ["id", "token", "environment", "topic", "state", "unregisteredAt", "online", "count"]
    let body = try ControlBody(request, known: known)
    let count = try body.number("count", 1...StandInLimits.devicesPerRequest)
    if count != nil, body.value("id") != nil || body.value("token") != nil {
      throw APIError.invalid("count", "does not go with id or token, which name one device")
    }
    var draft = StandInDeviceDraft(topic: try body.text("topic") ?? topic)
    draft.id = try body.text("id")
    draft.token = try body.token("token")
    draft.environment = try body.word("environment", StandInEnvironment.self) ?? .sandbox
    draft.online = try body.flag("online") ?? true
    draft.state = try state(body) ?? .registered
    try check(draft)
    let finished = draft
    let made = try change { core throws(StandInDeviceFault) in
      var made: [StandInDevice] = []
      for _ in 0..<(count ?? 1) { made.append(try core.addDevice(finished)) }
      return made
    }
    if count == nil, let device = made.first { return .json(201, ControlOutput.device(device)) }
    return .json(201, ["data": .array(made.map { ControlOutput.device($0) })])
  }

  func getDevice(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    _ = try ControlQuery(request, known: [])
    return .json(200, ControlOutput.device(try find(request)))
  }

  func changeDevice(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let body = try ControlBody(request, known: ["state", "unregisteredAt", "online"])
    let id = try find(request).id
    let state = try state(body)
    let online = try body.flag("online")
    guard state != nil || online != nil else { throw APIError.missing("state", hint: "Give state or online.") }
    let (device, actions) = try change { core throws(StandInDeviceFault) in
      var actions: [StandInAction] = []
      if let state { actions += try core.setState(state, ofDevice: id) }
      if let online { actions += try core.setOnline(online, ofDevice: id) }
      guard let device = core.device(id: id) else { throw .unknownDevice }
      return (device, actions)
    }
    perform(actions)
    return .json(200, ControlOutput.device(device))
  }

  func deleteDevice(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let id = try find(request).id
    perform(try change { core throws(StandInDeviceFault) in try core.removeDevice(id) })
    return HTTPResponse(status: 204)
  }

  func find(_ request: HTTPRequest) throws(APIError) -> StandInDevice {
    let id = request.parameters["id"] ?? ""
    guard let device = core.withLock({ $0.device(id: id) }) else { throw refusal(.unknownDevice) }
    return device
  }

  /// The state words of a device; a missing time is the stand-in's now.
  private func state(_ body: ControlBody) throws(APIError) -> StandInDevice.State? {
    let at = try body.number("unregisteredAt", 0...Int.max).map(Int64.init)
    guard let word = try body.text("state") else {
      guard at == nil else { throw APIError.missing("state", hint: "unregisteredAt goes with state unregistered.") }
      return nil
    }
    let time = at ?? core.withLock { $0.now }
    switch word {
    case "registered":
      guard at == nil else { throw APIError.invalid("unregisteredAt", "does not go with state registered") }
      return .registered
    case "unregistered": return .unregistered(at: time)
    case "expired": return .expired(at: time)
    default: throw APIError.invalid("state", "is none of registered, unregistered, expired")
    }
  }

  private func check(_ draft: StandInDeviceDraft) throws(APIError) {
    guard (1...StandInLimits.topicBytes).contains(draft.topic.utf8.count) else {
      throw APIError.invalid("topic", "is not a bundle id of 1 to \(StandInLimits.topicBytes) bytes")
    }
    if let id = draft.id {
      guard (1...StandInLimits.deviceIdBytes).contains(id.utf8.count), id.utf8.allSatisfy(Self.isPlain) else {
        throw APIError.invalid("id", "is not made of 1 to 64 letters, digits, '-', '_' and '.'")
      }
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
  }

  func refusal(_ fault: StandInDeviceFault) -> APIError {
    switch fault {
    case .tooMany:
      APIError.conflict("device_limit", "There are \(StandInLimits.devices) devices already; delete or reset some.")
    case .tokenTaken:
      APIError.conflict("token_taken", "The token belongs to another device, topic or environment; use a new one.")
    case .idTaken: APIError.conflict("id_taken", "The id belongs to a device with another token; use a new one.")
    case .unknownDevice:
      APIError.notFound("device_not_found", "There is no such device; GET the list of devices for those there are.")
    case .followsItsLink:
      APIError.conflict("device_linked", "A phone plays this device: it comes online by opening its stream.")
    case .notRegistered:
      APIError.conflict("device_unregistered", "The app is not installed any more; mint a new device for it.")
    }
  }
}
