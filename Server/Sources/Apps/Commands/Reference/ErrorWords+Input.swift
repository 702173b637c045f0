import ServerAPI

extension ErrorWords {
  static let input = Family(
    origin: Sentence("Found before anything was sent.", "보내기 전에 발견되었습니다."), owner: .sender,
    rows: [
      Row(
        "usage", "The command line is not one that pabal takes.", "명령줄이 올바르지 않습니다.",
        do: "Read the sentence beside it; --help lists the flags.", "함께 나온 문장을 읽으세요. --help에 플래그가 있습니다."),
      Row(
        "badge_invalid", "The badge is not a whole number from 0.", "배지가 0 이상의 정수가 아닙니다.",
        do: "Write the number without quotes; 0 removes the badge.", "따옴표 없이 숫자로 쓰세요. 0은 배지를 지웁니다."),
      Row(
        "sound_invalid", "The sound is neither a name nor an object that Apple knows.", "소리가 이름도, Apple이 아는 객체도 아닙니다.",
        do: "Give a file name, default, or name, critical and volume.",
        "파일 이름이나 default, 또는 name, critical, volume을 쓰세요."),
      Row(
        "header_invalid", "A header of the push has a value that APNs refuses.", "푸시 헤더의 값을 APNs가 받지 않습니다.",
        do: "Correct topic, priority, expiration or collapse id as it says.",
        "안내에 따라 토픽, 우선순위, 만료, collapse id를 고치세요."),
      Row(
        "token_malformed", "The text is no device token.", "기기 토큰이 아닙니다.",
        do: "Ask `pabal devices check-token` which mistake it is.", "`pabal devices check-token`으로 어떤 실수인지 확인하세요."),
      Row(
        "type_json_malformed", "A notification type's file is not JSON.", "알림 유형 파일이 JSON이 아닙니다.",
        do: "Correct the file at the line that is named.", "표시된 줄을 고치세요."),
      Row(
        "type_member_invalid", "A notification type has a member that is unknown or wrong.",
        "알림 유형에 모르는 항목이나 잘못된 값이 있습니다.",
        do: "Correct the member that is named.", "표시된 항목을 고치세요."),
      Row(
        "template_invalid", "A text of a notification type cannot be read.", "알림 유형의 문구를 해석할 수 없습니다.",
        do: "Close every { and write a literal one as {{.", "모든 {를 닫고, 글자 {는 {{로 쓰세요."),
    ])

  static let credentials = Family(
    origin: Sentence("Found when a key or certificate was read.", "키나 인증서를 읽을 때 발견되었습니다."), owner: .administrator,
    rows: [
      Row(
        "credential_invalid", "Key id, team id or key cannot be right.", "키 아이디, 팀 아이디 또는 키가 올바를 수 없습니다.",
        do: "Copy both ids from the developer account; each has ten characters.", "개발자 계정에서 두 아이디를 다시 복사하세요. 각각 10자입니다."
      ),
      Row(
        "key_not_pem", "The file is no PEM text.", "PEM 형식이 아닙니다.",
        do: "Give the .p8 file as it was downloaded.", "내려받은 그대로의 .p8 파일을 주세요."),
      Row(
        "key_encrypted", "The key is encrypted.", "암호화된 키입니다.",
        do: "Give its passphrase, or a key without one.", "암호를 주거나 암호 없는 키를 주세요."),
      Row(
        "key_wrong_type", "The key is not on the curve P-256.", "P-256 키가 아닙니다.",
        do: "Use an APNs authentication key; RSA and other kinds do not do.", "APNs 인증 키를 쓰세요. RSA 등은 쓸 수 없습니다."),
      Row(
        "key_malformed", "The key is damaged.", "키가 손상되었습니다.",
        do: "Copy the file again from where it was saved first.", "처음 저장한 곳에서 다시 복사하세요."),
      Row(
        "certificate_malformed", "The file holds no certificate that can be read.", "읽을 수 있는 인증서가 없습니다.",
        do: "Export the certificate again, as PEM.", "인증서를 PEM으로 다시 내보내세요."),
      Row(
        "certificate_key_mismatch", "Certificate and private key do not belong together.", "인증서와 개인 키가 서로 맞지 않습니다.",
        do: "Give the key that the certificate was requested with.", "인증서를 요청할 때의 키를 주세요."),
      Row(
        "certificate_name_invalid", "A name cannot stand in a certificate.", "인증서에 쓸 수 없는 이름입니다.",
        do: "Give a host name or a numeric address.", "호스트 이름이나 숫자 주소를 주세요."),
      Row(
        "provider_token_malformed", "The text is no provider token.", "프로바이더 토큰이 아닙니다.",
        do: "Make one with `pabal jwt make`.", "`pabal jwt make`로 만드세요."),
      Row(
        "authentication_failed", "Sealed data was changed, or the master key is another's.",
        "봉인된 데이터가 바뀌었거나 마스터 키가 다릅니다.",
        do: "Use the master key that this data was written with.", "이 데이터를 쓸 때의 마스터 키를 쓰세요."),
      Row(
        "wrong_length", "A value of fixed length has another one.", "길이가 정해진 값의 길이가 다릅니다.",
        do: "Give the value whole.", "값을 온전히 주세요."),
      Row(
        "openssl_failed", "OpenSSL refused an operation.", "OpenSSL이 작업을 거부했습니다.",
        do: "Report it with the words beside it.", "함께 나온 문구와 함께 알려 주세요."),
    ])
}
