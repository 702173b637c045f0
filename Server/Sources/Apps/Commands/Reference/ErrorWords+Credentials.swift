import ServerAPI

extension ErrorWords {
  /// Certificates as credentials, and what they do not cover.
  static let certificates = Family(
    origin: credentials.origin, owner: credentials.owner,
    rows: [
      Row(
        "key_id_missing", "The id of the signing key is not known.",
        "서명 키의 아이디를 알 수 없습니다.", do: "Give the key id, or keep the name AuthKey_<ID>.p8.",
        "키 아이디를 주거나 파일 이름 AuthKey_<ID>.p8을 그대로 두세요."),
      Row(
        "ids_swapped", "Key id and team id stand in each other's place.",
        "키 아이디와 팀 아이디가 뒤바뀌었습니다.", do: "Exchange the two.", "둘을 서로 바꾸세요."),
      Row(
        "passphrase_missing", "The file is encrypted and no passphrase was given.",
        "암호화된 파일인데 암호가 없습니다.", do: "Give the passphrase that was set at the export.", "내보낼 때 정한 암호를 주세요."),
      Row(
        "passphrase_wrong", "The passphrase does not open the file.",
        "암호가 맞지 않습니다.", do: "Try it in Keychain Access, or export the file with a new one.",
        "키체인 접근에서 암호를 확인하거나 새 암호로 다시 내보내세요."),
      Row(
        "p12_malformed", "The file is no .p12, or is damaged.",
        "p12 파일이 아니거나 손상되었습니다.", do: "Export the certificate again and copy the file as binary.",
        "인증서를 다시 내보내고 바이너리로 복사하세요."),
      Row(
        "p12_passphrase_unneeded", "A passphrase was given for a .p12 that has none.",
        "암호가 없는 p12 파일에 암호를 주었습니다.", do: "Leave the passphrase out.", "암호를 빼세요."),
      Row(
        "p12_legacy_unsupported", "The .p12 is encrypted as of old, and OpenSSL's legacy provider is missing.",
        "옛 방식으로 암호화된 p12인데 OpenSSL의 legacy 공급자가 없습니다.",
        do: "Install openssl-provider-legacy, or export again on a current system.",
        "openssl-provider-legacy를 설치하거나 최신 시스템에서 다시 내보내세요."),
      Row(
        "p12_without_key", "The .p12 holds a certificate without its key.",
        "p12에 인증서만 있고 키가 없습니다.", do: "Select certificate and key in Keychain Access and export both.",
        "키체인 접근에서 인증서와 키를 함께 골라 내보내세요."),
      Row(
        "p12_without_certificate", "The .p12 holds a key without a certificate.",
        "p12에 키만 있고 인증서가 없습니다.", do: "Export the certificate together with this key.", "이 키와 인증서를 함께 내보내세요."),
      Row(
        "p12_several_keys", "The .p12 holds several keys.",
        "p12에 키가 여럿 있습니다.", do: "Export one identity alone.", "신원 하나만 내보내세요."),
      Row(
        "certificate_expired", "The certificate for APNs has ended.",
        "APNs 인증서가 만료되었습니다.", do: "Renew it in the developer account.", "개발자 계정에서 갱신하세요."),
      Row(
        "certificate_not_yet_valid", "The certificate for APNs has not begun.",
        "APNs 인증서의 유효 기간이 아직 시작되지 않았습니다.", do: "See whether this machine's clock is right.", "이 컴퓨터의 시계가 맞는지 확인하세요."),
      Row(
        "certificate_not_for_push", "The certificate names no app.",
        "인증서에 앱이 없습니다.", do: "Make one of the kind Apple Push Notification service SSL.",
        "Apple Push Notification service SSL 종류로 만드세요."),
      Row(
        "topic_missing", "There is no topic, and the credential has no single one.",
        "토픽이 없고 인증 정보로도 하나를 정할 수 없습니다.", do: "Give the bundle id of the app.", "앱의 번들 아이디를 주세요."),
      Row(
        "topic_not_covered", "The certificate is not for that topic.",
        "그 토픽을 위한 인증서가 아닙니다.", do: "Use one of the topics that are listed, or a signing key.", "표시된 토픽이나 서명 키를 쓰세요."),
      Row(
        "push_type_needs_key", "A push of that type cannot be sent with a certificate.",
        "그 유형의 푸시는 인증서로 보낼 수 없습니다.", do: "Send it with a signing key (.p8) instead.", "대신 서명 키(.p8)로 보내세요."),
      Row(
        "environment_not_covered", "The certificate is not for that environment.",
        "그 환경을 위한 인증서가 아닙니다.", do: "Take the other environment or another certificate.", "다른 환경이나 다른 인증서를 쓰세요."),
    ])
}
