import APNs
import Cryptography
import PabalPrimitives
import ServerAPI

/// What stands in a provider token, and everything that APNs would object to. Trusts nothing: a signature counts only
/// against a key that the caller brings.
struct ProviderTokenReading {
  /// Longest age and largest distance in the future that APNs takes, in seconds (Apple, "Establishing a token-based
  /// connection to APNs").
  static let hour: Int64 = 3600
  private static let signatureBytes = 64

  enum Signature: String, Sendable {
    case good, wrong
    case unchecked
  }

  let header: JSONSlice
  let claims: JSONSlice
  let issuedAt: WallTime?
  let signature: Signature
  /// Each with what to do.
  let problems: [Sentence]

  /// - Parameter key: of the `.p8` that should have signed it; `nil` leaves the signature unchecked.
  /// - Throws: `provider_token_malformed` for what cannot be read at all.
  init(_ text: String, key: P256PublicKey?, now: WallTime) throws(APNsRequestError) {
    let signed: String
    (header, claims, signed) = try ProviderToken.parts(text)
    var problems = Self.identifiers(header, claims)
    (issuedAt, problems) = Self.age(claims["iat"], now, problems)
    (signature, problems) = Self.signature(text, signed, key, problems)
    self.problems = problems
  }

  var json: JSONValue {
    [
      "object": "provider_token", "header": JSONValue(header), "claims": JSONValue(claims),
      "issuedAt": JSONValue(issuedAt?.rfc3339), "signature": .string(signature.rawValue),
      "problems": .array(problems.map { ["en": .string($0.english), "ko": .string($0.korean)] }),
    ]
  }

  private static func identifiers(_ header: JSONSlice, _ claims: JSONSlice) -> [Sentence] {
    var problems: [Sentence] = []
    let algorithm = header["alg"]?.string
    if algorithm != "ES256" {
      let found = algorithm ?? "nothing"
      problems.append(
        Sentence(
          "alg is \(found); APNs takes ES256 alone. Sign with the .p8 key on the curve P-256.",
          "alg가 \(algorithm ?? "없음")입니다. APNs는 ES256만 받습니다. P-256 .p8 키로 서명하세요."))
    }
    for (name, value, place) in [("kid", header["kid"], "header"), ("iss", claims["iss"], "claims")] {
      let what = name == "kid" ? "key id" : "team id"
      guard let text = value?.string else {
        problems.append(
          Sentence(
            "\(name) is missing in the \(place). Put the \(what) there.",
            "\(place)에 \(name)이(가) 없습니다. \(name == "kid" ? "키 아이디" : "팀 아이디")를 넣으세요."))
        continue
      }
      guard text.count != APNsLimits.identifierCharacters else { continue }
      problems.append(
        Sentence(
          "\(name) has \(text.count) characters; a \(what) has \(APNsLimits.identifierCharacters). Copy it again.",
          "\(name)이(가) \(text.count)자입니다. \(APNsLimits.identifierCharacters)자여야 하니 다시 복사하세요."))
    }
    return problems
  }

  private static func age(
    _ value: JSONSlice?, _ now: WallTime, _ problems: [Sentence]
  ) -> (WallTime?, [Sentence]) {
    guard let value else {
      return (
        nil, problems + [Sentence("iat is missing. Put the UNIX time in seconds there.", "iat가 없습니다. UNIX 초를 넣으세요.")]
      )
    }
    guard let number = value.int else {
      return (
        nil,
        problems + [
          Sentence(
            "iat must be a whole number of seconds, without quotes; found \(value.kind).",
            "iat는 따옴표 없는 정수(초)여야 합니다.")
        ]
      )
    }
    guard Int64(number) < APNsLimits.firstImplausibleExpiration else {
      return (
        WallTime(milliseconds: Int64(number)),
        problems + [
          Sentence("iat is in milliseconds. Divide by 1000: APNs wants seconds.", "iat가 밀리초입니다. 1000으로 나눠 초로 넣으세요.")
        ]
      )
    }
    let issued = WallTime(seconds: Int64(number))
    let age = now.seconds - issued.seconds
    if age > hour {
      let problem = Sentence(
        "It is older than 60 minutes: APNs answers ExpiredProviderToken. Make a new one with `pabal jwt make`.",
        "60분이 지났습니다. APNs가 ExpiredProviderToken으로 거부합니다. `pabal jwt make`로 새로 만드세요.")
      return (issued, problems + [problem])
    }
    if age < -hour {
      let problem = Sentence(
        "It is from more than an hour in the future. Set the clock of the machine that signed it.",
        "한 시간 넘게 미래의 시각입니다. 서명한 서버의 시계를 맞추세요.")
      return (issued, problems + [problem])
    }
    return (issued, problems)
  }

  private static func signature(
    _ text: String, _ part: String, _ key: P256PublicKey?, _ problems: [Sentence]
  ) -> (Signature, [Sentence]) {
    guard let bytes = Base64URL.decode(part) else {
      let problem = Sentence(
        "The signature is not base64url. Use - and _ for + and /, and no = at the end.",
        "서명이 base64url이 아닙니다. +와 / 대신 -와 _를 쓰고 끝의 =를 빼세요.")
      return (.unchecked, problems + [problem])
    }
    guard bytes.count == signatureBytes else {
      // ASN.1 SEQUENCE: what OpenSSL and most libraries give unless asked otherwise.
      let isDER = bytes.first == 0x30 && bytes.count > signatureBytes
      let problem =
        isDER
        ? Sentence(
          "The signature is DER; RFC 7518 wants r and s, 32 bytes each. Ask your library for the IEEE P1363 form.",
          "서명이 DER 형식입니다. r과 s를 32바이트씩 이어 붙인 형식(IEEE P1363)으로 만드세요.")
        : Sentence(
          "The signature has \(bytes.count) bytes instead of \(signatureBytes). Was the token cut off?",
          "서명이 \(bytes.count)바이트입니다. \(signatureBytes)바이트여야 하니 토큰이 잘렸는지 확인하세요.")
      return (.unchecked, problems + [problem])
    }
    guard let key else { return (.unchecked, problems) }
    guard ProviderToken.isSigned(text, by: key) else {
      let problem = Sentence(
        "Another key has signed it, or it was changed. Check which .p8 belongs to this kid.",
        "다른 키로 서명했거나 내용이 바뀌었습니다. 이 kid에 맞는 .p8 파일인지 확인하세요.")
      return (.wrong, problems + [problem])
    }
    return (.good, problems)
  }
}
