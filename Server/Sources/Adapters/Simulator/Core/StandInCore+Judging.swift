extension StandInCore {
  /// The checks of a push request, in their fixed order. The first that fails gives the reason:
  /// method, path, duplicate headers, provider token, topic, push type, priority, expiration, collapse id, `apns-id`,
  /// empty payload, size, device token, its topic, its state.
  mutating func judge(_ request: StandInRequest, _ fields: RequestFields) -> Result<GoodPush, Refusal> {
    do throws(Refusal) {
      return .success(try examine(request, fields))
    } catch {
      return .failure(error)
    }
  }

  private mutating func examine(_ request: StandInRequest, _ fields: RequestFields) throws(Refusal) -> GoodPush {
    guard fields.method == "POST" else { throw Refusal(.methodNotAllowed, "only POST sends a push") }
    let tokenText = try deviceToken(inPath: fields.path)
    if let name = fields.duplicate { throw Refusal(.duplicateHeaders, "\(name) came twice") }
    let principal = try authenticate(request, fields)
    let type = try pushType(fields)
    let (topic, bundle) = try self.topic(fields, type, principal)
    if let word = fields.pushType, type == nil { throw Refusal(.invalidPushType, "there is no push type \(word)") }
    let priority = try self.priority(fields, type)
    let expiration = try self.expiration(fields.expiration)
    if let collapse = fields.collapseID {
      guard (1...StandInLimits.collapseIdBytes).contains(collapse.utf8.count) else {
        throw Refusal(.badCollapseId, "a collapse id has 1 to 64 bytes, this one \(collapse.utf8.count)")
      }
    }
    if let id = fields.id, !UUIDText.isCanonical(id) {
      throw Refusal(.badMessageId, "apns-id is not a UUID of the form 8-4-4-4-12")
    }
    try checkPayload(request, type, topic)
    let device = try self.device(tokenText, on: request.connection, bundle: bundle)
    return GoodPush(
      device: device, topic: topic, pushType: fields.pushType, priority: priority, expiration: expiration,
      collapseID: fields.collapseID)
  }

  private func deviceToken(inPath path: String) throws(Refusal) -> Substring {
    switch DevicePath(path) {
    case .device(let token): return token
    case .missingToken: throw Refusal(.missingDeviceToken, "the path ends where the device token should stand")
    case .unknown: throw Refusal(.badPath, "the path of a push is /3/device/<token>")
    }
  }

  private func pushType(_ fields: RequestFields) throws(Refusal) -> StandInPushType? {
    guard let word = fields.pushType else { return nil }
    return StandInPushType(rawValue: word)
  }

  /// Topic and the bundle id in it. Without `apns-push-type` (which only watchOS demands) the suffix says the type;
  /// without `apns-topic` a certificate that carries one topic says that.
  private func topic(
    _ fields: RequestFields, _ type: StandInPushType?, _ principal: Principal
  ) throws(Refusal) -> (topic: String, bundle: String) {
    guard let topic = fields.topic ?? onlyTopic(principal), !topic.isEmpty else {
      throw Refusal(.missingTopic, "there is no apns-topic")
    }
    guard topic.utf8.count <= StandInLimits.topicBytes, Self.isTopic(topic)
    else { throw Refusal(.badTopic, "apns-topic is not made of a bundle id: letters, digits, '-' and '.'") }
    let known =
      type ?? (fields.pushType == nil ? .implied(byTopic: topic) ?? .alert : .implied(byTopic: topic) ?? .alert)
    guard let bundle = known.bundle(inTopic: topic) else {
      throw Refusal(.topicDisallowed, "push type \(known.rawValue) wants a topic that ends in \(known.topicSuffix)")
    }
    switch principal {
    case .key(let key):
      guard bundles.contains(bundle) else {
        throw Refusal(.topicDisallowed, "the team has no app \(bundle) for push type \(known.rawValue)")
      }
      guard key.allows(bundle: bundle) else {
        throw Refusal(.topicDisallowed, "key \(key.keyID) is not made for topic \(bundle)")
      }
    case .certificate(let certificate):
      guard !known.wantsToken else {
        throw Refusal(.topicDisallowed, "push type \(known.rawValue) wants a provider token, not a certificate")
      }
      guard certificate.topics.contains(topic) else {
        throw Refusal(.topicDisallowed, "the certificate does not list topic \(topic)")
      }
    }
    return (topic, bundle)
  }

  private func onlyTopic(_ principal: Principal) -> String? {
    guard case .certificate(let certificate) = principal, certificate.topics.count == 1 else { return nil }
    return certificate.topics.first
  }

  /// Letters, digits, `-`, and `.` between two of these.
  private static func isTopic(_ topic: String) -> Bool {
    let dot = UInt8(ascii: ".")
    var previous = dot
    for byte in topic.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): break
      case dot where previous != dot: break
      default: return false
      }
      previous = byte
    }
    return previous != dot
  }

  private func priority(_ fields: RequestFields, _ type: StandInPushType?) throws(Refusal) -> Int {
    switch fields.priority {
    case nil: return 10
    case "5": return 5
    case "1": return 1
    case "10":
      guard type != .background else { throw Refusal(.badPriority, "a background push has priority 5, never 10") }
      return 10
    default: throw Refusal(.badPriority, "apns-priority is 10, 5 or 1")
    }
  }

  private func expiration(_ text: String?) throws(Refusal) -> Int64? {
    guard let text else { return nil }
    guard !text.isEmpty, text.utf8.count <= 19, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let seconds = Int64(text)
    else { throw Refusal(.badExpirationDate, "apns-expiration is a whole number of seconds since 1970") }
    guard seconds <= StandInLimits.expirationSeconds else {
      throw Refusal(.badExpirationDate, "apns-expiration lies after the year 9999: it is in seconds, not milliseconds")
    }
    return seconds
  }

  /// Apple publishes no reason for a body that is not a JSON object. Nothing in it can be shown, so it counts as empty
  /// here; the log says what was wrong at which byte.
  private func checkPayload(_ request: StandInRequest, _ type: StandInPushType?, _ topic: String) throws(Refusal) {
    guard !request.body.isEmpty else { throw Refusal(.payloadEmpty, "there is no body") }
    let limit = (type ?? .implied(byTopic: topic) ?? .alert).payloadLimit
    guard request.body.count <= limit, !request.bodyWasCut else {
      throw Refusal(.payloadTooLarge, "the body has \(request.body.count) bytes, \(limit) are allowed")
    }
    do throws(StrictJSONScanner.Fault) {
      let members = try StrictJSONScanner.members(of: request.body)
      if let aps = members.first(where: { $0.name.elementsEqual("aps".utf8) }), aps.kind != .object {
        throw StrictJSONScanner.Fault(problem: "aps is not an object", offset: aps.range.lowerBound)
      }
    } catch {
      throw Refusal(.payloadEmpty, "the body is not a payload: \(error.problem), at byte \(error.offset)")
    }
  }

  private func device(
    _ text: Substring, on connection: StandInConnectionID, bundle: String
  ) throws(Refusal) -> Int {
    guard let token = DeviceTokenText.bytes(text) else {
      throw Refusal(.badDeviceToken, "the device token is not hex of whole bytes")
    }
    guard let index = indexByToken[token] else { throw Refusal(.badDeviceToken, "no device has this token") }
    guard devices[index].environment == connections[connection]?.environment else {
      throw Refusal(.badDeviceToken, "the device token belongs to \(devices[index].environment.rawValue)")
    }
    guard devices[index].topic == bundle else {
      throw Refusal(.deviceTokenNotForTopic, "the device token belongs to \(devices[index].topic)")
    }
    switch devices[index].state {
    case .registered: return index
    case .unregistered(let at): throw Refusal(.unregistered, timestamp: at, "the app was removed")
    case .expired(let at): throw Refusal(.expiredToken, timestamp: at, "the device token ran out")
    }
  }
}
