import PabalModel

extension ReasonSentence {
  static let table: [String: ReasonSentence] = [ours, policies, apples, googles].reduce(into: [:]) { all, part in
    all.merge(part) { first, _ in first }
  }

  private static let ours: [String: ReasonSentence] = [
    "user_unknown": ReasonSentence(
      Sentence("This server has never heard of the user.", "이 서버가 모르는 사용자입니다."),
      do: Sentence(
        "Check the user id; the app registers its device under it.", "사용자 아이디를 확인하세요. 앱이 그 아이디로 기기를 등록해야 합니다.")),
    "excluded": ReasonSentence(
      Sentence("It would have gone to the one who caused it.", "알림을 일으킨 본인이어서 보내지 않았습니다."),
      do: Sentence("Nothing: nobody is told of his own message.", "조치할 것이 없습니다. 본인의 메시지는 본인에게 알리지 않습니다.")),
    "no_devices": ReasonSentence(
      Sentence("The user has no active device.", "사용자에게 활성 기기가 없습니다."),
      do: Sentence(
        "The app registers again when it is next opened and signed in.", "앱을 다시 열고 로그인하면 기기가 다시 등록됩니다.")),
    "device_inactive": ReasonSentence(
      Sentence("The device is inactive.", "비활성 기기입니다."),
      do: Sentence("It comes back with its next registration.", "다음 등록 때 다시 활성화됩니다.")),
    "device_unregistered": ReasonSentence(
      Sentence("The device was signed out before it was sent.", "보내기 전에 기기가 로그아웃되었습니다."),
      do: Sentence("It comes back when the user signs in.", "사용자가 로그인하면 다시 등록됩니다.")),
    "device_reassigned": ReasonSentence(
      Sentence("The device belongs to another user by now.", "기기가 다른 사용자의 것이 되었습니다."),
      do: Sentence("Nothing: it must not show on another user's screen.", "조치할 것이 없습니다. 다른 사용자의 화면에 보이면 안 됩니다.")),
    "environment_mismatch": ReasonSentence(
      Sentence("The token belongs to Apple's other environment.", "토큰이 Apple의 다른 환경에 속합니다."),
      do: Sentence("Register the device with its environment.", "기기를 등록할 때 environment를 함께 보내세요.")),
    "provider_unsupported": ReasonSentence(
      Sentence("This server does not speak the device's push service.", "이 서버가 지원하지 않는 푸시 서비스입니다."),
      do: Sentence("Only APNs is built so far.", "지금은 APNs만 지원합니다.")),
    "preference_off": ReasonSentence(
      Sentence("The user has switched this kind off.", "사용자가 이 종류의 알림을 껐습니다."),
      do: Sentence("Only the user may switch it on, in the app.", "앱에서 사용자만 다시 켤 수 있습니다.")),
    "duplicate": ReasonSentence(
      Sentence("The same event was sent before.", "같은 일로 이미 보냈습니다."),
      do: Sentence("Look at the first message.", "먼저 보낸 메시지를 확인하세요.")),
    "ttl_elapsed": ReasonSentence(
      Sentence("Its time ran out before Apple took it.", "Apple이 받기 전에 유효 시간이 지났습니다."),
      do: Sentence("Give it a longer ttl.", "ttl을 더 길게 지정하세요.")),
    "variable_missing": ReasonSentence(
      Sentence("The text asks for a value that was not given.", "문구에 필요한 값이 없습니다."),
      do: Sentence("Send the value, or give the template a default.", "값을 보내거나 템플릿에 기본값을 두세요.")),
    "payload_too_large": ReasonSentence(
      Sentence("The payload is over Apple's 4096 bytes.", "페이로드가 Apple의 한도 4096바이트를 넘습니다."),
      do: Sentence("Send less data beside the text.", "문구 외의 데이터를 줄이세요.")),
    "payload_invalid": ReasonSentence(
      Sentence("The payload is not one that Apple takes.", "Apple이 받지 않는 형식의 페이로드입니다."),
      do: Sentence("Correct the message.", "메시지를 바로잡으세요.")),
    "device_token_invalid": ReasonSentence(
      Sentence("The token given or stored is no device token.", "주어졌거나 저장된 토큰이 기기 토큰이 아닙니다."),
      do: Sentence("The app has to register again.", "앱이 다시 등록해야 합니다.")),
    "line_invalid": ReasonSentence(
      Sentence("The line of the device list cannot be read.", "기기 목록의 이 줄을 읽을 수 없습니다."),
      do: Sentence(
        "Correct the line; `pabal send --help` shows the three formats of a list.",
        "그 줄을 고치세요. 세 가지 목록 형식은 `pabal send --help`에 있습니다.")),
    "reply_lost": ReasonSentence(
      Sentence(
        "It was written to Apple and no reply came; repeating it could show it twice.",
        "Apple에 보냈지만 응답을 받지 못했습니다. 다시 보내면 두 번 보일 수 있습니다."),
      do: Sentence("Give messages that may be repeated a collapseKey.", "다시 보내도 되는 메시지에는 collapseKey를 지정하세요.")),
    "process_stopped": ReasonSentence(
      Sentence(
        "The server stopped while it was being sent; whether Apple took it is unknown.",
        "보내는 중에 서버가 멈췄습니다. Apple이 받았는지는 알 수 없습니다."),
      do: Sentence("Send again if a double does no harm.", "두 번 보여도 괜찮으면 다시 보내세요.")),
    "retries_exhausted": ReasonSentence(
      Sentence("Apple kept refusing it for now, as often as it was tried.", "여러 번 시도했지만 Apple이 계속 받지 않았습니다."),
      do: Sentence("Send it again later.", "나중에 다시 보내세요.")),
    "credential_missing": ReasonSentence(
      Sentence("No APNs key is set up for this app.", "이 앱의 APNs 키가 없습니다."),
      do: Sentence("Add the key.", "키를 등록하세요.")),
    "clock_skew_suspected": ReasonSentence(
      Sentence("Apple refuses fresh tokens: this machine's clock is probably wrong.", "새 토큰도 거부됩니다. 서버 시계가 틀린 것 같습니다."),
      do: Sentence("Set the clock by NTP.", "NTP로 시계를 맞추세요.")),
    "provider_unreachable": ReasonSentence(
      Sentence("Apple could not be reached.", "Apple에 연결할 수 없었습니다."),
      do: Sentence("Check the network, port 443 and DNS.", "네트워크와 443 포트, DNS를 확인하세요.")),
    "interrupted": ReasonSentence(
      Sentence("Sending was stopped before its turn.", "차례가 오기 전에 전송이 중단되었습니다."),
      do: Sentence("Start the run again for what is left.", "남은 것을 다시 실행하세요.")),
    "not_confirmed": ReasonSentence(
      Sentence("Apple took it; nothing was heard from the phone.", "Apple이 접수했지만 기기에서 온 소식은 없습니다."),
      do: Sentence(
        "The phone may be off, the app's notifications may be off, or it has no service extension to tell.",
        "기기가 꺼져 있거나, 알림이 꺼져 있거나, 알려 줄 서비스 확장이 없을 수 있습니다.")),
  ]

  private static let apples: [String: ReasonSentence] = [
    "apns.Unregistered": ReasonSentence(
      Sentence("Apple says that the app was removed from the phone.", "앱이 기기에서 삭제되었다고 Apple이 알려 왔습니다."),
      do: Sentence(
        "Nothing: the device was deactivated and comes back with a new install.",
        "조치할 것이 없습니다. 앱을 다시 설치하면 기기가 다시 등록됩니다.")),
    "apns.BadDeviceToken": ReasonSentence(
      Sentence("Apple does not know this token in this environment.", "Apple이 이 환경에서 모르는 토큰입니다."),
      do: Sentence("Check sandbox against production.", "sandbox와 production을 확인하세요.")),
    "apns.DeviceTokenNotForTopic": ReasonSentence(
      Sentence("The token belongs to another app.", "다른 앱의 토큰입니다."),
      do: Sentence("Check the bundle id of the registration.", "등록할 때의 bundleId를 확인하세요.")),
    "apns.TopicDisallowed": ReasonSentence(
      Sentence("The key may not send to this app.", "이 앱으로 보낼 수 없는 키입니다."),
      do: Sentence("Use a key of the app's team that is allowed for the topic.", "앱의 팀에 속하고 이 토픽이 허용된 키를 쓰세요.")),
    "apns.PayloadTooLarge": ReasonSentence(
      Sentence("Apple says that the payload is over 4096 bytes.", "페이로드가 4096바이트를 넘는다고 Apple이 거부했습니다."),
      do: Sentence("Send less data.", "데이터를 줄이세요.")),
    "apns.ExpiredProviderToken": ReasonSentence(
      Sentence("The provider token was too old.", "프로바이더 토큰이 오래되었습니다."),
      do: Sentence(
        "Look at the clock of the machine that signs.", "서명하는 서버의 시계를 확인하세요.")),
    "apns.InvalidProviderToken": ReasonSentence(
      Sentence("Key, key id and team do not belong together.", "키와 키 아이디, 팀 아이디가 맞지 않습니다."),
      do: Sentence("Check the key file, key id and team id.", "키 파일과 키 아이디, 팀 아이디를 확인하세요.")),
    "apns.TooManyRequests": ReasonSentence(
      Sentence("Too many pushes to one device in a short time.", "한 기기에 짧은 시간에 너무 많이 보냈습니다."),
      do: Sentence("Send less often.", "더 드물게 보내세요.")),
    "apns.TooManyProviderTokenUpdates": ReasonSentence(
      Sentence("The provider token was changed too often.", "프로바이더 토큰을 너무 자주 바꿨습니다."),
      do: Sentence("Let one server sign for the key.", "한 서버에서만 서명하세요.")),
    "apns.InternalServerError": ReasonSentence(
      Sentence("Apple had a fault.", "Apple에서 오류가 났습니다."),
      do: Sentence("Send it again in 15 minutes.", "15분 뒤에 다시 보내세요.")),
    "apns.ServiceUnavailable": ReasonSentence(
      Sentence("Apple was not available.", "Apple 서비스를 이용할 수 없었습니다."),
      do: Sentence(
        "Look at Apple's system status, and send it when the service is back.",
        "Apple 시스템 상태를 보고 서비스가 돌아오면 보내세요.")),
    "apns.Shutdown": ReasonSentence(
      Sentence("Apple's server was shutting down.", "Apple 서버가 종료되는 중이었습니다."),
      do: Sentence("Send again.", "다시 보내세요.")),
    "apns.BadCollapseId": ReasonSentence(
      Sentence("The collapse id is longer than 64 bytes.", "collapse id가 64바이트를 넘습니다."),
      do: Sentence("Shorten the collapse id.", "collapse id를 줄이세요.")),
    "apns.BadExpirationDate": ReasonSentence(
      Sentence("The expiration is not a number of UNIX seconds.", "만료 시각이 UNIX 초가 아닙니다."),
      do: Sentence("Give seconds, not milliseconds or a date.", "밀리초나 날짜가 아니라 초로 지정하세요.")),
    "apns.BadMessageId": ReasonSentence(
      Sentence("The apns-id is not a UUID.", "apns-id가 UUID가 아닙니다."),
      do: Sentence("Leave it out, or give a lower-case UUID.", "생략하거나 소문자 UUID를 쓰세요.")),
    "apns.BadPriority": ReasonSentence(
      Sentence(
        "The priority is not 10, 5 or 1, or does not fit the push type.", "우선순위가 10, 5, 1이 아니거나 푸시 종류와 맞지 않습니다."),
      do: Sentence(
        "Give 5 to background pushes, and 10 to those that the user shall see at once.",
        "background에는 5, 바로 보일 알림에는 10을 쓰세요.")),
    "apns.BadTopic": ReasonSentence(
      Sentence("The topic is not a bundle id.", "토픽이 번들 아이디가 아닙니다."),
      do: Sentence("Give the app's bundle id as the topic, spelled as in Xcode.", "Xcode에 적힌 그대로의 번들 아이디를 토픽으로 쓰세요.")),
    "apns.DuplicateHeaders": ReasonSentence(
      Sentence("A header was given twice.", "같은 헤더가 두 번 있습니다."),
      do: Sentence("Look for a proxy that adds headers.", "헤더를 덧붙이는 프록시가 있는지 확인하세요.")),
    "apns.IdleTimeout": ReasonSentence(
      Sentence("Apple closed a connection that was idle.", "Apple이 쉬고 있던 연결을 닫았습니다."),
      do: Sentence("Nothing: it is repeated on a new connection.", "조치할 것이 없습니다. 새 연결로 다시 보냅니다.")),
    "apns.InvalidPushType": ReasonSentence(
      Sentence("Apple does not know the push type.", "Apple이 모르는 푸시 종류입니다."),
      do: Sentence(
        "Use alert or background, or another type of Apple's list.", "alert나 background 등 Apple 목록에 있는 종류를 쓰세요.")),
    "apns.MissingDeviceToken": ReasonSentence(
      Sentence("The request named no device.", "요청에 기기 토큰이 없습니다."),
      do: Sentence("Report it: this server never sends such a request.", "이 서버는 그런 요청을 보내지 않습니다. 문제를 알려 주세요.")),
    "apns.MissingTopic": ReasonSentence(
      Sentence("The request named no topic.", "요청에 토픽이 없습니다."),
      do: Sentence("Configure the app's bundle id.", "앱의 번들 아이디를 설정하세요.")),
    "apns.PayloadEmpty": ReasonSentence(
      Sentence("The request had no body.", "요청에 본문이 없습니다."),
      do: Sentence("Give a payload with the object aps.", "aps 객체가 있는 페이로드를 보내세요.")),
    "apns.BadCertificate": ReasonSentence(
      Sentence("The certificate is not valid.", "인증서가 유효하지 않습니다."),
      do: Sentence("Make a new push certificate, or better a .p8 key.", "새 푸시 인증서를 만들거나, .p8 키로 바꾸세요.")),
    "apns.BadCertificateEnvironment": ReasonSentence(
      Sentence("The certificate is for the other environment.", "인증서가 다른 환경의 것입니다."),
      do: Sentence(
        "Use the production certificate for production, or a .p8 key for both.", "운영에는 운영 인증서를, 또는 양쪽에 .p8 키를 쓰세요.")),
    "apns.Forbidden": ReasonSentence(
      Sentence("Apple does not allow this action.", "Apple이 허용하지 않는 동작입니다."),
      do: Sentence("Look into the developer account: agreements and key permissions.", "개발자 계정의 계약과 키 권한을 확인하세요.")),
    "apns.MissingProviderToken": ReasonSentence(
      Sentence("The request carried no provider token.", "요청에 프로바이더 토큰이 없습니다."),
      do: Sentence("Look for a proxy that removes the authorization header.", "authorization 헤더를 지우는 프록시가 있는지 확인하세요.")),
    "apns.UnrelatedKeyIdInToken": ReasonSentence(
      Sentence("The connection was opened with another key.", "다른 키로 연 연결입니다."),
      do: Sentence("Use one connection pool for each key.", "키마다 연결을 따로 쓰세요.")),
    "apns.BadEnvironmentKeyIdInToken": ReasonSentence(
      Sentence("The key is for the other environment.", "키가 다른 환경의 것입니다."),
      do: Sentence("Use a key that is made for this environment.", "이 환경용으로 만든 키를 쓰세요.")),
    "apns.BadEnvironmentKeyInToken": ReasonSentence(
      Sentence("The key is for the other environment.", "키가 다른 환경의 것입니다."),
      do: Sentence("Use a key that is made for this environment.", "이 환경용으로 만든 키를 쓰세요.")),
    "apns.BadPath": ReasonSentence(
      Sentence("Apple does not know the path of the request.", "Apple이 모르는 경로입니다."),
      do: Sentence(
        "Check that the endpoint is APNs and no proxy rewrites paths.", "엔드포인트가 APNs인지, 경로를 바꾸는 프록시가 없는지 확인하세요.")),
    "apns.MethodNotAllowed": ReasonSentence(
      Sentence("The request was not a POST.", "요청이 POST가 아니었습니다."),
      do: Sentence("Look for a proxy that changes methods.", "메서드를 바꾸는 프록시가 있는지 확인하세요.")),
    "apns.ExpiredToken": ReasonSentence(
      Sentence("The device token has expired.", "기기 토큰이 만료되었습니다."),
      do: Sentence("The app gets a new token when it is opened and registers it.", "앱을 열면 새 토큰을 받아 등록합니다.")),
  ]
}
