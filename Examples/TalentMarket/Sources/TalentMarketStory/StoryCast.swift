import PabalPrimitives

/// Who appears in the story and what they say, drawn from a seed: a printed answer cannot be a remembered one.
public struct StoryCast: Sendable, Equatable {
  public let seed: UInt64
  public let receiver: String
  public let receiverID: String
  public let requester: String
  public let talent: String
  public let requestID: String
  public let roomID: String
  public let sender: String
  public let message: String
  public let secondMessage: String
  public let reply: String
  public let formerUser: String
  public let formerUserID: String

  public init(seed: UInt64) {
    self.seed = seed
    var dice = SeededGenerator(seed: seed)
    func draw(_ choices: [String]) -> String { choices.randomElement(using: &dice) ?? "" }
    func number() -> String { String(Int.random(in: 10_000...99_999, using: &dice)) }
    let families = ["김", "이", "박", "최", "정", "강", "조", "윤"]
    let givens = ["지원", "민호", "서연", "하준", "수아", "도윤", "예린", "시우", "나은", "태희"]
    var names: [String] = []
    while names.count < 4 {
      let name = draw(families) + draw(givens)
      if !names.contains(name) { names.append(name) }
    }
    receiver = names[0]
    requester = names[1]
    sender = names[2]
    formerUser = names[3]
    receiverID = "u_\(number())"
    formerUserID = "u_former_\(number())"
    talent = draw(["기타 레슨", "드로잉 수업", "스위프트 과외", "홈 베이킹", "수영 강습", "사진 보정"]) + " \(number())"
    requestID = "req_\(number())"
    roomID = "room_\(number())"
    message = draw(["안녕하세요!", "내일 시간 괜찮으세요?", "사진 보냈어요", "장소를 바꿀까요?"]) + " \(number())"
    secondMessage = draw(["도착했어요", "다음 주에 뵐게요", "감사합니다", "확인했습니다"]) + " \(number())"
    reply = draw(["네, 좋아요", "잠시만요", "곧 갈게요"]) + " \(number())"
  }
}
