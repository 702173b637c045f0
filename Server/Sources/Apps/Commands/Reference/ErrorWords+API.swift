import ServerAPI

extension ErrorWords {
  static let requests = Family(
    origin: Sentence("The API refuses the request with 400 to 422.", "API가 400~422로 요청을 거부합니다."), owner: .sender,
    rows: [
      Row(
        "parameter_missing", "A required member or query parameter is missing.", "필수 항목이나 쿼리가 없습니다.",
        do: "Add what `param` names.", "param에 적힌 것을 추가하세요."),
      Row(
        "parameter_unknown", "There is no such member or query parameter.", "그런 항목이나 쿼리는 없습니다.",
        do: "Check the spelling against `hint`.", "hint와 철자를 비교하세요."),
      Row(
        "parameter_invalid", "A value is not of the form that it must have.", "값의 형식이 올바르지 않습니다.",
        do: "Correct the value that `param` names.", "param에 적힌 값을 고치세요."),
      Row(
        "json_malformed", "The body is not strict JSON.", "본문이 올바른 JSON이 아닙니다.",
        do: "Correct the body at the line and column that are named.", "표시된 줄과 열을 고치세요."),
      Row(
        "body_too_large", "The body is longer than the server takes.", "본문이 서버의 한도보다 깁니다.",
        do: "Send it in several calls.", "여러 번에 나눠 보내세요."),
      Row(
        "content_type", "The body is not said to be JSON.", "본문이 JSON이라고 표시되지 않았습니다.",
        do: "Send Content-Type: application/json.", "Content-Type: application/json을 보내세요."),
      Row(
        "content_encoding", "The body is compressed.", "본문이 압축되어 있습니다.",
        do: "Send it without Content-Encoding.", "Content-Encoding 없이 보내세요."),
      Row(
        "idempotency_unsupported", "This call does not take an Idempotency-Key yet.",
        "아직 Idempotency-Key를 받지 않는 호출입니다.",
        do: "Leave the header out, and look before you repeat a call.", "헤더를 빼고, 다시 부르기 전에 결과를 확인하세요."),
      Row(
        "method_not_allowed", "The path does not take this method.", "이 경로에서 쓸 수 없는 메서드입니다.",
        do: "Use a method that the header Allow names.", "Allow 헤더에 있는 메서드를 쓰세요."),
      Row(
        "cursor_expired", "The list has changed so that the cursor's place is gone.",
        "목록이 바뀌어 커서의 자리가 없어졌습니다.", do: "Begin the list again, without a cursor.",
        "커서 없이 목록을 처음부터 다시 읽으세요."),
      Row(
        "stream_not_forwarded", "The server does not pass a phone's stream on from its stand-in.",
        "서버는 모의 APNs의 휴대폰 연결을 중계하지 않습니다.", do: "Open the stream at the stand-in's own address.",
        "모의 APNs의 주소에서 직접 연결하세요."),
      Row(
        "method_unknown", "The server does not know the method.", "서버가 모르는 메서드입니다.",
        do: "Use GET, POST, PUT, PATCH or DELETE.", "GET, POST, PUT, PATCH, DELETE를 쓰세요."),
    ])

  static let callers = Family(
    origin: Sentence("The API asks who is calling (401, 403).", "API가 호출한 쪽을 확인합니다(401, 403)."), owner: .sender,
    rows: [
      Row(
        "key_missing", "A key is missing: the API's in a call, or the private one in a file.",
        "키가 없습니다. 호출의 API 키이거나 파일의 개인 키입니다.",
        do: "Send Authorization: Bearer pb_…; to a certificate's file add its private key.",
        "Authorization: Bearer pb_…를 보내거나, 인증서 파일에 개인 키를 넣으세요."),
      Row(
        "key_invalid", "The server does not know the key.", "서버가 모르는 키입니다.",
        do: "Copy the key from where the server printed it, or make a new one.", "서버가 출력한 키를 다시 복사하거나 새로 만드세요."),
      Row(
        "scope_missing", "The key may not do this.", "이 키로는 할 수 없습니다.",
        do: "Call with a secret key, from your server.", "서버에서 비밀 키로 호출하세요."),
      Row(
        "install_secret_wrong", "The install's secret is not the one that it registered with.", "설치 비밀 값이 등록할 때와 다릅니다.",
        do: "The app has to sign in again, which registers it anew.", "앱에서 다시 로그인하면 새로 등록됩니다."),
      Row(
        "not_owner", "What is named belongs to another user.", "다른 사용자의 것입니다.",
        do: "Name a thing of the user who calls.", "호출한 사용자의 것을 지정하세요."),
      Row(
        "identity_open", "The server lets anybody name any user, and was told not to.", "아무나 사용자를 지정할 수 있는 설정입니다.",
        do: "Set how users prove who they are.", "사용자 확인 방법을 설정하세요."),
      Row(
        "host_not_allowed", "The Host header names a place that is not this server's.", "Host 헤더가 이 서버의 이름이 아닙니다.",
        do: "Call the server by an address that it prints, or allow the name.", "서버가 출력한 주소로 부르거나 이름을 허용하세요."),
    ])

  static let framing = Family(
    origin: Sentence("The HTTP server guards against ambiguous requests.", "HTTP 서버가 모호한 요청을 막습니다."), owner: .network,
    rows: [
      Row(
        "framing_ambiguous", "The request gives its length in two ways.", "요청의 길이가 두 가지로 표시되었습니다.",
        do: "Send Content-Length or chunks, not both.", "Content-Length와 chunked 중 하나만 쓰세요."),
      Row(
        "framing_invalid", "The length of the body cannot be read.", "본문의 길이를 읽을 수 없습니다.",
        do: "Send Content-Length as one decimal number.", "Content-Length를 십진수 하나로 보내세요."),
      Row(
        "framing_unsupported", "The transfer coding is not known.", "모르는 전송 코딩입니다.",
        do: "Use chunked alone.", "chunked만 쓰세요."),
      Row(
        "header_folded", "A header goes on over a second line.", "헤더가 두 줄에 걸쳐 있습니다.",
        do: "Write each header on one line.", "헤더를 한 줄에 쓰세요."),
      Row(
        "header_name_invalid", "A header's name has characters that are not allowed.", "헤더 이름에 쓸 수 없는 글자가 있습니다.",
        do: "Use letters, digits and hyphens in names.", "이름에는 영문자, 숫자, 하이픈만 쓰세요."),
      Row(
        "header_value_invalid", "A header's value has control characters.", "헤더 값에 제어 문자가 있습니다.",
        do: "Remove line breaks and zero bytes from values.", "값에서 줄바꿈과 0 바이트를 빼세요."),
      Row(
        "header_repeated", "A header that may come once came twice.", "한 번만 올 수 있는 헤더가 두 번 왔습니다.",
        do: "Send it once.", "한 번만 보내세요."),
      Row(
        "headers_too_many", "The headers are more or longer than the server takes.", "헤더가 너무 많거나 깁니다.",
        do: "Send fewer; cookies are the usual cause.", "줄이세요. 대개 쿠키 때문입니다."),
      Row(
        "host_missing", "The request names no host.", "요청에 Host가 없습니다.",
        do: "Send one Host header.", "Host 헤더를 하나 보내세요."),
      Row(
        "target_invalid", "The path or query cannot be read.", "경로나 쿼리를 읽을 수 없습니다.",
        do: "Escape what is not a plain character with %.", "특수 문자는 %로 표기하세요."),
      Row(
        "version_unsupported", "The request is not HTTP/1.1.", "HTTP/1.1 요청이 아닙니다.",
        do: "Call with HTTP/1.1.", "HTTP/1.1로 호출하세요."),
      Row(
        "expectation_failed", "The server does not know what Expect asks for.", "Expect 헤더의 요구를 서버가 모릅니다.",
        do: "Leave Expect out, or send 100-continue.", "Expect를 빼거나 100-continue를 보내세요."),
    ])

  static let things = Family(
    origin: Sentence("The API looked and found nothing (404).", "API가 찾지 못했습니다(404)."), owner: .sender,
    rows: [
      Row(
        "route_not_found", "There is no such path.", "그런 경로가 없습니다.",
        do: "Look at /openapi.json for the paths there are.", "/openapi.json에서 경로를 확인하세요."),
      Row(
        "device_not_found", "There is no such device.", "그런 기기가 없습니다.",
        do: "List the devices, and take an id from there.", "기기 목록에서 아이디를 고르세요."),
      Row(
        "delivery_not_found", "There is no such delivery, or it is older than what is kept.",
        "그런 전달이 없거나 보관 기간이 지났습니다.",
        do: "Take the id from the message.", "메시지에서 아이디를 고르세요."),
      Row(
        "message_not_found", "There is no such message, or it is older than what is kept.", "그런 메시지가 없거나 보관 기간이 지났습니다.",
        do: "Take the id that sending printed.", "보낼 때 출력된 아이디를 쓰세요."),
      Row(
        "type_not_found", "There is no such notification type.", "그런 알림 유형이 없습니다.",
        do: "Use a type that the server has, or give title and text.", "서버에 있는 유형을 쓰거나 제목과 본문을 주세요."),
      Row(
        "media_not_found", "The stand-in has no such file.", "모의 APNs에 그런 파일이 없습니다.",
        do: "Use one of those that the message names.", "메시지에 있는 파일을 쓰세요."),
    ])

  static let states = Family(
    origin: Sentence("The server cannot do it in its present state.", "서버의 현재 상태로는 할 수 없습니다."), owner: .server,
    rows: [
      Row(
        "internal", "Something of ours failed.", "서버 내부 오류입니다.",
        do: "Look for the request id in the server's log.", "서버 로그에서 요청 아이디를 찾으세요."),
      Row(
        "draining", "The server is stopping.", "서버가 멈추는 중입니다.",
        do: "Repeat the call when it is back.", "서버가 돌아오면 다시 부르세요."),
      Row(
        "unavailable", "The server cannot serve the call now.", "지금은 처리할 수 없습니다.",
        do: "Repeat the call after the seconds in Retry-After.", "Retry-After의 시간이 지나면 다시 부르세요."),
      Row(
        "read_only", "The disk is full or refuses writes; reading goes on.", "디스크가 가득 찼거나 쓸 수 없습니다. 읽기는 됩니다.",
        do: "Make room on the disk that holds the data.", "데이터가 있는 디스크의 공간을 확보하세요."),
      Row(
        "handler_timeout", "The server took too long to answer.", "서버가 제때 답하지 못했습니다.",
        do: "See `pabal status`, and repeat the call.", "`pabal status`를 보고 다시 부르세요."),
      Row(
        "server_unreachable", "Nobody answers at the server's address.", "서버 주소에서 응답이 없습니다.",
        do: "Start it with `pabal up`, or correct PABAL_SERVER.", "`pabal up`으로 시작하거나 PABAL_SERVER를 고치세요."),
      Row(
        "server_silent", "The server took the call and did not answer.", "서버가 요청을 받고 응답하지 않았습니다.",
        do: "Look at the server's log.", "서버 로그를 확인하세요."),
      Row(
        "answer_too_long", "The answer is longer than a command reads.", "응답이 너무 깁니다.",
        do: "Ask for less with --limit.", "--limit로 줄여서 요청하세요."),
      Row(
        "answer_malformed", "What answers does not speak the API.", "API가 아닌 것이 응답했습니다.",
        do: "Check which program listens on that port.", "그 포트에서 어떤 프로그램이 듣고 있는지 확인하세요."),
    ])
}
