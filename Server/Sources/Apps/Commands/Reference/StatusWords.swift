import ServerAPI

/// The statuses of APNs (Apple, "Handling notification responses from APNs").
enum StatusWords {
  struct Row {
    let status: Int
    let what: Sentence
    let why: Sentence
    let owner: ReasonOwner
    let advice: Sentence
  }

  static let rows: [Row] = [
    Row(
      status: 200, what: Sentence("APNs has taken the push.", "APNs가 푸시를 접수했습니다."),
      why: Sentence(
        "It says nothing about the phone: the push may be stored, replaced or never shown.",
        "기기에 대한 답은 아닙니다. 보관되거나, 다른 것으로 바뀌거나, 보이지 않을 수 있습니다."),
      owner: .nobody,
      advice: Sentence(
        "Nothing; in the sandbox, apns-unique-id finds it in Apple's Push Notifications Console.",
        "조치할 것이 없습니다. 샌드박스에서는 apns-unique-id로 Apple 푸시 알림 콘솔에서 찾을 수 있습니다.")),
    Row(
      status: 400, what: Sentence("The request is not one that APNs takes.", "APNs가 받지 않는 요청입니다."),
      why: Sentence("A header, the topic, the token or the body breaks a rule.", "헤더, 토픽, 토큰 또는 본문이 규칙에 어긋납니다."),
      owner: .sender,
      advice: Sentence("Read the reason in the body and explain that word.", "본문의 reason을 확인해 그 단어를 설명해 보세요.")),
    Row(
      status: 403, what: Sentence("Certificate or provider token were refused.", "인증서나 프로바이더 토큰이 거부되었습니다."),
      why: Sentence("APNs does not believe who is sending, or not for this app.", "보내는 쪽을 확인할 수 없거나 이 앱으로 보낼 수 없습니다."),
      owner: .administrator,
      advice: Sentence("Run `pabal doctor` with the key.", "키를 지정해 `pabal doctor`를 실행하세요.")),
    Row(
      status: 404, what: Sentence("APNs has no such path.", "APNs에 없는 경로입니다."),
      why: Sentence("Pushes go to /3/device/ and the token.", "푸시는 /3/device/ 뒤에 토큰을 붙여 보냅니다."), owner: .network,
      advice: Sentence("Compare the path that arrives with the one that was sent.", "보낸 경로와 도착한 경로를 비교하세요.")),
    Row(
      status: 405, what: Sentence("APNs takes POST alone.", "APNs는 POST만 받습니다."),
      why: Sentence("Something on the way used another method.", "중간에서 다른 메서드가 쓰였습니다."), owner: .network,
      advice: Sentence("Send with POST, without a proxy that rewrites requests.", "요청을 바꾸는 프록시 없이 POST로 보내세요.")),
    Row(
      status: 410, what: Sentence("The token is not valid for the app any more.", "이 앱에서 더는 유효하지 않은 토큰입니다."),
      why: Sentence(
        "The app was removed or has a new token; `timestamp` says since when.",
        "앱이 삭제되었거나 토큰이 바뀌었습니다. timestamp가 그 시각입니다."),
      owner: .nobody,
      advice: Sentence(
        "Forget the token, unless it was registered after that time.", "그 시각 뒤에 등록된 것이 아니면 토큰을 지우세요.")),
    Row(
      status: 413, what: Sentence("The payload is too large.", "페이로드가 너무 큽니다."),
      why: Sentence("4096 bytes are allowed, 5120 for voip.", "4096바이트, voip은 5120바이트까지입니다."), owner: .sender,
      advice: Sentence("See `pabal payload size` for what to shorten.", "`pabal payload size`로 줄일 곳을 찾으세요.")),
    Row(
      status: 429, what: Sentence("Too many requests of one kind.", "같은 요청이 너무 많습니다."),
      why: Sentence("Either to one device, or with new provider tokens.", "한 기기에 너무 자주 보냈거나, 프로바이더 토큰을 자주 바꿨습니다."),
      owner: .sender,
      advice: Sentence("Slow down for this device or keep one provider token.", "그 기기에는 천천히 보내고, 토큰은 하나를 계속 쓰세요.")),
    Row(
      status: 500, what: Sentence("Apple's server failed.", "Apple 서버에서 오류가 났습니다."),
      why: Sentence("Not your request: the same one may succeed later.", "요청 탓이 아니며, 같은 요청이 나중에는 성공할 수 있습니다."),
      owner: .provider, advice: Sentence("Try again after a quarter of an hour.", "15분쯤 지나 다시 시도하세요.")),
    Row(
      status: 503, what: Sentence("Apple's server does not take pushes now.", "Apple 서버가 지금은 푸시를 받지 않습니다."),
      why: Sentence("It is overloaded, or this one is being shut down.", "과부하이거나 해당 서버가 종료되는 중입니다."),
      owner: .provider,
      advice: Sentence("Try again on a new connection, then wait longer each time.", "새 연결로 다시 시도하고, 간격을 점점 늘리세요.")),
  ]
}
