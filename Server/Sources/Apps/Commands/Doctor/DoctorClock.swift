import ArgumentParsing
import PabalPrimitives
import ServerAPI

/// The clock: APNs refuses provider tokens that are an hour off, and TLS certificates that are not valid yet.
enum DoctorClock {
  /// Half of what the shortest-lived thing that we sign allows would do; this is what NTP holds with ease.
  private static let tolerance = Duration.seconds(30)
  private static let apples = "time.apple.com"

  static func check(_ command: ParsedCommand, _ context: CommandContext) async -> DoctorCheck {
    let given = command.value(Doctor.timeServer)
    guard let text = given ?? (command.isSet(SendOptions.endpoint) ? nil : apples) else {
      return DoctorCheck(
        "clock", .skipped,
        Sentence(
          "\(context.clock.wall().rfc3339); not compared (--time-server HOST)",
          "\(context.clock.wall().rfc3339), 비교하지 않음(--time-server HOST)"))
    }
    guard let server = URLAuthority(text[...], defaultPort: TimeServer.port) else {
      return DoctorCheck(
        "clock", .failed, Sentence("--time-server \(text) is no host.", "--time-server \(text)은(는) 호스트가 아닙니다."),
        do: Sentence("Give HOST or HOST:PORT.", "HOST 또는 HOST:PORT를 주세요."))
    }
    guard let offset = await TimeServer(server).offset(context.clock) else {
      return DoctorCheck(
        "clock", .warning,
        Sentence("\(text) did not answer, so the clock was not compared.", "\(text)의 응답이 없어 시계를 비교하지 못했습니다."),
        do: Sentence("Let UDP port 123 out, or name another --time-server.", "UDP 123 포트를 열거나 다른 --time-server를 지정하세요.")
      )
    }
    let seconds = tenths(offset)
    guard offset.nanosecondsClamped.magnitude > tolerance.nanosecondsClamped.magnitude else {
      return DoctorCheck(
        "clock", .ok, Sentence("\(seconds) s off \(text) (limit 30 s)", "\(text)와 \(seconds)초 차이(한도 30초)"))
    }
    return DoctorCheck(
      "clock", .failed, Sentence("\(seconds) s off \(text) (limit 30 s)", "\(text)와 \(seconds)초 차이(한도 30초)"),
      do: Sentence(
        "Set the clock by NTP; APNs refuses provider tokens by its own clock.",
        "NTP로 시계를 맞추세요. APNs는 자기 시계로 프로바이더 토큰을 판단합니다."))
  }

  private static func tenths(_ offset: Duration) -> String {
    let value = offset.milliseconds.magnitude / 100
    return "\(value / 10).\(value % 10)"
  }
}
