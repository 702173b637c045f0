import PabalPrimitives

/// The types that every app starts with: the guide's three, and one to say hello.
package enum ShippedTypes {
  /// By name.
  package static let all: [String: NotificationType] = {
    var types: [String: NotificationType] = [:]
    for source in sources {
      do throws(NotificationTypeError) {
        let type = try NotificationType(parsing: source)
        types[type.name] = type
      } catch {
        preconditionFailure("a shipped type does not parse: \(error.message)")
      }
    }
    return types
  }()

  package static let sources = [talentRequest, chatMessage, review, hello]

  static let talentRequest = #"""
    {
      "name": "talent_request", "version": 1,
      "description": "Someone asked for a talent you offer",
      "category": "talentRequest", "frequencyClass": "urgent",
      "params": {
        "requesterName": { "type": "string", "required": true },
        "talentTitle": { "type": "string", "required": true },
        "requestId": { "type": "string", "required": true }
      },
      "content": {
        "ko": { "title": "새로운 재능 요청", "body": "{requesterName}님이 \"{talentTitle}\" 재능을 요청했습니다." },
        "en": { "title": "New talent request", "body": "{requesterName} asked for “{talentTitle}”." }
      },
      "defaultLocale": "ko",
      "presentation": {
        "extras": "guide", "threadId": "talent-requests", "actionCategory": "TALENT_REQUEST", "sound": "default",
        "badge": 1, "interruptionLevel": "active", "link": "app://talent-requests/{requestId}",
        "payload": { "type": "talent_request", "requestId": "{requestId}", "talentTitle": "{talentTitle}" }
      },
      "delivery": {
        "priority": "high", "ttlSeconds": 86400, "dedupeKey": "talent_request:{requestId}",
        "dedupeWindowSeconds": 604800
      }
    }
    """#

  static let chatMessage = #"""
    {
      "name": "chat_message", "version": 1,
      "description": "A message in a chat room",
      "category": "message", "frequencyClass": "conversation",
      "params": {
        "senderName": { "type": "string", "required": true },
        "message": { "type": "string", "required": true },
        "chatRoomId": { "type": "string", "required": true },
        "senderId": { "type": "string" }
      },
      "content": {
        "ko": { "title": "{senderName}", "body": "{message}" },
        "en": { "title": "{senderName}", "body": "{message}" }
      },
      "defaultLocale": "ko",
      "presentation": {
        "extras": "guide", "threadId": "{chatRoomId}", "actionCategory": "MESSAGE", "sound": "default", "badge": 1,
        "interruptionLevel": "active", "link": "app://chat/{chatRoomId}",
        "payload": { "type": "message", "chatRoomId": "{chatRoomId}", "senderId": "{senderId}" }
      },
      "delivery": { "priority": "high", "ttlSeconds": 86400, "exclude": "senderId" }
    }
    """#

  static let review = #"""
    {
      "name": "review", "version": 1,
      "description": "Someone reviewed you",
      "category": "review", "frequencyClass": "default",
      "params": {
        "reviewerName": { "type": "string", "required": true },
        "rating": { "type": "integer", "required": true, "minimum": 1, "maximum": 5 }
      },
      "content": {
        "ko": { "title": "새로운 리뷰", "body": "{reviewerName}님이 {rating|stars} 리뷰를 남겼습니다." },
        "en": { "title": "New review", "body": "{reviewerName} rated you {rating} out of 5." }
      },
      "defaultLocale": "ko",
      "presentation": {
        "extras": "guide", "threadId": "reviews", "sound": "default", "badge": 1, "interruptionLevel": "active",
        "link": "app://reviews", "payload": { "type": "review" }
      },
      "delivery": { "priority": "normal", "ttlSeconds": 259200 }
    }
    """#

  static let hello = #"""
    {
      "name": "hello", "version": 1,
      "description": "A first push",
      "frequencyClass": "transactional",
      "params": { "name": { "type": "string" } },
      "content": {
        "ko": { "title": "안녕하세요", "body": "{name|default:친구}님, 첫 푸시입니다." },
        "en": { "title": "Hello", "body": "{name|default:Friend}, this is your first push." }
      },
      "defaultLocale": "ko",
      "presentation": { "sound": "default", "interruptionLevel": "active", "payload": { "type": "hello" } },
      "delivery": { "priority": "high", "ttlSeconds": 3600 }
    }
    """#
}
