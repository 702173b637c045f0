import ServerAPI

extension ErrorWords {
  static let standIn = Family(
    origin: Sentence("From the local APNs (`pabal sim`).", "모의 APNs(`pabal sim`)에서 나옵니다."), owner: .sender,
    rows: [
      Row(
        "simulator_unreachable", "No stand-in answers.", "모의 APNs가 응답하지 않습니다.",
        do: "Start one with `pabal sim serve`, or name it with --control or PABAL_SIM_CONTROL.",
        "`pabal sim serve`로 시작하거나 --control 또는 PABAL_SIM_CONTROL로 지정하세요."),
      Row(
        "simulator_data", "The stand-in's folder cannot be made, read or written.", "모의 APNs의 폴더를 만들거나 읽거나 쓸 수 없습니다.",
        do: "Give another folder with --data.", "--data로 다른 폴더를 지정하세요."),
      Row(
        "simulator_credentials", "A key or certificate in the stand-in's folder is not its own.",
        "모의 APNs 폴더의 키나 인증서가 올바르지 않습니다.", do: "Remove the file that is named; a new one is made.",
        "표시된 파일을 지우면 새로 만들어집니다."),
      Row(
        "simulator_listen", "A port of the stand-in cannot be had.", "모의 APNs의 포트를 쓸 수 없습니다.",
        do: "Give another port, or 0 for a free one.", "다른 포트를 주거나 0으로 빈 포트를 쓰세요."),
      Row(
        "simulator_configuration", "The stand-in cannot be started so.", "그 설정으로는 모의 APNs를 시작할 수 없습니다.",
        do: "Correct the flag that is named.", "표시된 플래그를 고치세요."),
      Row(
        "device_limit", "The stand-in has as many devices as it can hold.", "모의 APNs의 기기 수가 한도에 이르렀습니다.",
        do: "Remove some, or `pabal sim reset --devices`.", "일부를 지우거나 `pabal sim reset --devices`를 쓰세요."),
      Row(
        "device_linked", "A phone plays this device, so its link decides whether it is online.",
        "휴대폰이 연결된 기기라 온라인 여부는 연결에 달렸습니다.", do: "Open or close the phone's stream.", "휴대폰의 연결을 열거나 닫으세요."),
      Row(
        "id_taken", "Another device has the id.", "다른 기기가 쓰는 아이디입니다.", do: "Choose another id.", "다른 아이디를 쓰세요."),
      Row(
        "token_taken", "Another device has the token.", "다른 기기가 쓰는 토큰입니다.",
        do: "Leave the token out to have a new one made.", "토큰을 생략하면 새로 만들어집니다."),
    ])

  static let connections = Family(
    origin: Sentence("From a connection to a provider or server.", "제공자나 서버와의 연결에서 나옵니다."), owner: .network,
    rows: [
      Row(
        "name_not_found", "The host name has no address.", "호스트 이름의 주소를 찾을 수 없습니다.",
        do: "Check the spelling, then DNS.", "철자를, 다음으로 DNS를 확인하세요."),
      Row(
        "connection_refused", "Nobody listens on that port.", "그 포트에서 듣는 프로그램이 없습니다.",
        do: "Check host and port, and that the service runs.", "호스트와 포트, 서비스가 실행 중인지 확인하세요."),
      Row(
        "unreachable", "No address of the host could be reached.", "호스트의 어떤 주소에도 연결할 수 없습니다.",
        do: "Check routes and firewalls; APNs uses 443 or 2197.", "경로와 방화벽을 확인하세요. APNs는 443이나 2197을 씁니다."),
      Row(
        "connection_reset", "The other side broke the connection off.", "상대가 연결을 끊었습니다.",
        do: "Look for a firewall or proxy that resets idle connections.", "연결을 끊는 방화벽이나 프록시가 있는지 확인하세요."),
      Row(
        "timed_out", "The other side did not answer in time.", "상대가 제때 응답하지 않았습니다.",
        do: "See whether a firewall swallows packets.", "방화벽이 패킷을 버리는지 확인하세요."),
      Row(
        "dial_timed_out", "TCP, TLS and HTTP/2 did not come up in time.", "TCP, TLS, HTTP/2 연결이 제때 이루어지지 않았습니다.",
        do: "Run `pabal doctor`: it tells at which step it hangs.", "`pabal doctor`로 어느 단계에서 멈추는지 확인하세요."),
      Row(
        "address_in_use", "Another program has the port.", "다른 프로그램이 포트를 쓰고 있습니다.",
        do: "Stop that program, or take another port.", "그 프로그램을 멈추거나 다른 포트를 쓰세요."),
      Row(
        "address_invalid", "The text is no address to listen on.", "들을 수 있는 주소가 아닙니다.",
        do: "Give a numeric address such as 127.0.0.1.", "127.0.0.1 같은 숫자 주소를 주세요."),
      Row(
        "not_allowed", "The system does not let this user have the port.", "이 사용자는 그 포트를 쓸 수 없습니다.",
        do: "Take a port from 1024 on.", "1024 이상의 포트를 쓰세요."),
      Row(
        "io_error", "The system reported a failure of the connection.", "시스템이 연결 오류를 알렸습니다.",
        do: "Look at the system's own word beside it.", "함께 나온 시스템의 문구를 확인하세요."),
      Row(
        "connection_lost", "The provider closed the connection with requests open.", "요청이 남아 있는데 제공자가 연결을 닫았습니다.",
        do: "Nothing: what is safe to repeat is repeated.", "조치할 것이 없습니다. 안전한 것은 다시 보냅니다."),
      Row(
        "connection_drained", "The connection ended in order.", "연결이 정상적으로 끝났습니다.",
        do: "Nothing is wrong.", "문제가 아닙니다."),
      Row(
        "connection_aborted", "We closed the connection ourselves.", "이쪽에서 연결을 닫았습니다.",
        do: "Look at what asked for it, such as Ctrl-C.", "Ctrl-C 등 무엇이 요청했는지 확인하세요."),
      Row(
        "http2_protocol_error", "One side broke HTTP/2.", "HTTP/2 규칙이 깨졌습니다.",
        do: "Check what listens there; a proxy may change frames.", "그곳에서 듣는 것과 중간의 프록시를 확인하세요."),
      Row(
        "alpn_missing", "The other side does not offer HTTP/2.", "상대가 HTTP/2를 지원하지 않습니다.",
        do: "Look for a proxy that opens TLS; name APNs itself.", "TLS를 여는 프록시가 있는지 확인하고 APNs를 직접 지정하세요."),
      Row(
        "loop_stopped", "The program was ending.", "프로그램이 끝나는 중이었습니다.",
        do: "Nothing, if you stopped it.", "직접 멈췄다면 조치할 것이 없습니다."),
    ])

  static let tls = Family(
    origin: Sentence("From the TLS handshake or session.", "TLS 연결에서 나옵니다."), owner: .administrator,
    rows: [
      Row(
        "tls_unknown_authority", "Nobody that we trust has signed the other side's certificate.",
        "신뢰하는 기관이 서명하지 않은 인증서입니다.", do: "Give the authority with --ca, or install the system's certificates.",
        "--ca로 기관을 지정하거나 시스템 인증서를 설치하세요."),
      Row(
        "tls_wrong_host", "The certificate is for another name.", "다른 이름의 인증서입니다.",
        do: "Call the host by the name in its certificate.", "인증서에 있는 이름으로 연결하세요."),
      Row(
        "tls_certificate_refused", "The certificate is expired, not valid yet or unfit.",
        "만료되었거나 아직 유효하지 않거나 맞지 않는 인증서입니다.",
        do: "Check this machine's clock first, then the certificate's dates.", "이 컴퓨터의 시계를, 다음으로 인증서의 기간을 확인하세요."),
      Row(
        "tls_alert", "The other side ended TLS with an alert.", "상대가 경고를 보내고 TLS를 끝냈습니다.",
        do: "If you use a client certificate, see whether it is expired or revoked.", "클라이언트 인증서가 만료되거나 폐기되었는지 확인하세요."),
      Row(
        "tls_client_certificate_refused", "The server does not take our certificate, or a client showed none.",
        "서버가 우리 인증서를 받지 않거나 클라이언트가 인증서를 보이지 않았습니다.", do: "Renew the certificate, or use the one for this service.",
        "인증서를 갱신하거나 이 서비스의 인증서를 쓰세요."),
      Row(
        "tls_not_spoken", "What answers does not speak TLS.", "TLS가 아닌 응답입니다.",
        do: "Check the port: it may be one for plain HTTP.", "포트를 확인하세요. 일반 HTTP 포트일 수 있습니다."),
      Row(
        "tls_truncated", "The connection ended in the middle of TLS.", "TLS 도중에 연결이 끊겼습니다.",
        do: "Look for a firewall that inspects TLS.", "TLS를 검사하는 방화벽이 있는지 확인하세요."),
      Row(
        "tls_failed", "TLS failed for another reason.", "다른 이유로 TLS가 실패했습니다.",
        do: "Read OpenSSL's word beside it.", "함께 나온 OpenSSL의 문구를 확인하세요."),
      Row(
        "tls_certificate_unreadable", "A certificate file cannot be used.", "인증서 파일을 쓸 수 없습니다.",
        do: "Give PEM text with a block BEGIN CERTIFICATE.", "BEGIN CERTIFICATE가 있는 PEM을 주세요."),
      Row(
        "tls_key_unreadable", "A private key file cannot be used.", "개인 키 파일을 쓸 수 없습니다.",
        do: "Give an unencrypted PEM key.", "암호화되지 않은 PEM 키를 주세요."),
      Row(
        "tls_key_mismatch", "The private key is not the certificate's.", "개인 키가 인증서의 것이 아닙니다.",
        do: "Give the pair that was issued together.", "함께 발급된 짝을 주세요."),
    ])
}
