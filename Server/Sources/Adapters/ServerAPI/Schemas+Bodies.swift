import Delivery
import PabalModel
import PabalPrimitives

extension Schemas {
  static let error = object(
    [
      "error": object(
        ["type": text, "code": text, "message": text, "param": text, "hint": text, "requestId": text],
        required: ["type", "code", "message", "requestId"])
    ], required: ["error"])

  static let guideError = object(
    ["success": ["const": false], "error": text, "code": text, "param": text, "hint": text],
    required: ["success", "error", "code"])

  static let guideAnswer = object(
    ["success": flag, "message": text, "status": text, "deviceId": text, "inFlight": number],
    required: ["success", "message"])

  static let guideRegistration = object(
    [
      "userId": text, "deviceToken": text, "platform": text, "appVersion": text, "osVersion": text,
      "deviceModel": text, "environment": words(PushEnvironment.self), "bundleId": text, "installId": text,
      "locale": text, "timeZone": text, "permission": words(NotificationPermission.self), "lockScreen": flag,
      "sdkVersion": text,
    ], required: ["userId", "deviceToken", "platform"])

  static let guideRegistered = object(
    [
      "success": flag, "message": text, "deviceId": text, "status": text,
      "warnings": ["type": "array", "items": text], "inFlight": number,
    ], required: ["success", "message", "deviceId", "status"])

  static let guideSent = object(
    [
      "success": flag, "message": text, "error": text, "sent": number, "failed": number, "pending": number,
      "unknown": number, "suppressed": number, "devices": number, "messageId": text, "status": text, "reason": text,
      "duplicate": flag, "warnings": ["type": "array", "items": text],
    ],
    required: [
      "success", "sent", "failed", "pending", "unknown", "suppressed", "devices", "messageId", "status", "duplicate",
    ])

  static let preferenceChange: JSONValue = .compact([
    "type": "object", "additionalProperties": false, "minProperties": 1,
    "properties": .object(PreferenceCategory.all.map { JSONMember($0.name, flag) }),
  ])

  static let preferences = object(
    [
      "success": flag, "preferences": ["type": "object", "additionalProperties": flag], "updatedAt": time,
      "categories": ["type": "array"], "inFlight": number,
    ], required: ["success", "preferences"])

  static let deviceRegistration = object(
    [
      "installId": ["type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"], "epoch": ["type": "integer", "minimum": 0],
      "userId": nullable(["type": "string", "minLength": 1, "maxLength": 255]), "platform": text,
      "token": nullable(text), "bundleId": text, "environment": words(PushEnvironment.self), "appVersion": text,
      "osVersion": text, "model": text, "locale": text, "timeZone": text,
      "permission": words(NotificationPermission.self), "lockScreen": flag, "sdkVersion": text,
      "capabilities": object(["serviceExtension": flag, "contentExtension": flag], isClosed: true),
    ], required: ["installId", "userId", "platform"], isClosed: true)

  static let device = object(
    [
      "id": text, "object": ["const": "device"], "mode": words(PushMode.self), "userId": nullable(text),
      "status": text, "epoch": number, "environment": words(PushEnvironment.self), "installSecret": text,
      "token": text, "inactiveReason": text, "inactiveSince": time, "inFlight": number,
    ], required: ["id", "object", "mode", "status"])

  private static let localized: JSONValue = ["anyOf": [text, ["type": "object", "additionalProperties": text]]]

  static let messageRequest = object(
    [
      "to": object(
        [
          "userIds": ["type": "array", "minItems": 1, "maxItems": 1000, "items": text]
        ], required: ["userIds"], isClosed: true),
      "type": ["type": "string", "enum": .array(ShippedTypes.all.keys.sorted().map { .string($0) })],
      "data": ["type": "object"],
      "content": object(
        ["title": localized, "body": localized, "image": text, "link": text], isClosed: true),
      "options": object(
        [
          "ttl": ["anyOf": [number, text]], "collapseKey": text, "threadId": text,
          "interruptionLevel": words(InterruptionLevel.self), "priority": words(PushPriority.self),
          "actionCategory": text, "sound": nullable(text), "badge": nullable(number),
        ], isClosed: true),
    ], required: ["to"], isClosed: true)

  static let message = object(
    [
      "id": text, "object": ["const": "message"], "mode": words(PushMode.self),
      "state": ["type": "string", "enum": ["sending", "completed"]], "type": text, "category": text, "source": text,
      "createdAt": time, "expiresAt": time, "audience": ["type": "object"], "counts": ["type": "object"],
      "links": ["type": "object"], "duplicate": flag,
    ], required: ["id", "object", "mode", "state", "type", "createdAt", "counts"])

  static let delivery = object(
    [
      "id": text, "object": ["const": "delivery"], "mode": words(PushMode.self), "messageId": text, "userId": text,
      "deviceId": text, "state": words(DeliveryState.self), "reason": text, "attempts": number, "receivedAt": time,
      "openedAt": time, "createdAt": time, "updatedAt": time,
    ], required: ["id", "object", "mode", "messageId", "userId", "deviceId", "state"])

  static let step = object(
    [
      "at": time, "step": words(PipelineStep.self), "result": text,
      "basis": ["type": "string", "enum": ["recorded", "derived", "inferred"]], "detail": ["type": "object"],
    ], required: ["step", "result"])

  static let trace = object(
    [
      "object": ["const": "trace"], "deliveryId": text, "messageId": text, "userId": text, "deviceId": text,
      "state": words(DeliveryState.self), "reason": text, "steps": ["type": "array", "items": reference("Step")],
    ], required: ["object", "deliveryId", "messageId", "state", "steps"])

  static let explanation = object(
    [
      "object": ["const": "explanation"], "userId": text, "messageId": text, "type": text,
      "answer": words(AnswerClass.self), "reason": text, "basis": text,
      "sentence": object(["en": text, "ko": text], required: ["en", "ko"]),
      "steps": ["type": "array", "items": reference("Step")], "devices": ["type": "array"],
      "suggestions": ["type": "array"],
    ], required: ["object", "userId", "answer", "sentence", "steps"])

  static let events = object(
    [
      "events": [
        "type": "array", "maxItems": 500,
        "items": object(
          [
            "kind": ["type": "string", "enum": .array(PushAPI.eventKinds.map { .string($0.rawValue) })],
            "deliveryId": text, "messageId": text, "at": time, "eventId": ["type": "string", "maxLength": 64],
            "action": text, "text": text, "name": ["type": "string", "maxLength": 64], "value": ["type": "number"],
          ], required: ["kind", "deliveryId", "messageId", "at", "eventId"], isClosed: true),
      ]
    ], required: ["events"], isClosed: true)

  static let eventsTaken = object(
    ["accepted": number, "duplicates": number, "rejected": ["type": "array"]],
    required: ["accepted", "duplicates", "rejected"])
}
