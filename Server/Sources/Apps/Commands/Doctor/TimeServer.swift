import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// One question to an NTP server (SNTP, RFC 4330).
struct TimeServer: Sendable {
  static let port: UInt16 = 123
  private static let packetBytes = 48
  private static let patienceSeconds = 2
  /// Seconds from 1900 to 1970.
  private static let epoch: Int64 = 2_208_988_800

  private let server: URLAuthority

  init(_ server: URLAuthority) {
    self.server = server
  }

  /// How far this machine's clock is behind the server's; `nil` when there is no answer that can be believed.
  func offset(_ clock: Clock) async -> Duration? {
    await OwnThread.run { ask(clock) }
  }

  private func ask(_ clock: Clock) -> Duration? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(server.host, String(server.port), &hints, &list) == 0, let address = list?.pointee else {
      return nil
    }
    defer { freeaddrinfo(list) }
    let socket = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    guard connect(socket, address.ai_addr, address.ai_addrlen) == 0 else { return nil }
    let sent = clock.wall()
    let stamp = Self.stamp(sent)
    // Leap indicator 0, version 4, mode 3 (client); all else is zero but our own time.
    let question = [0x23] + [UInt8](repeating: 0, count: Self.packetBytes - 9) + stamp
    guard send(socket, question, question.count, 0) == question.count else { return nil }
    var answer = [UInt8](repeating: 0, count: Self.packetBytes)
    guard recv(socket, &answer, answer.count, 0) == answer.count else { return nil }
    return Self.offset(answer, asked: stamp, sent: sent, received: clock.wall())
  }

  /// RFC 4330 section 5: ((T2 − T1) + (T3 − T4)) / 2.
  private static func offset(_ answer: [UInt8], asked: [UInt8], sent: WallTime, received: WallTime) -> Duration? {
    // Mode 4 (server); stratum 0 is a refusal; the answer must be to this question.
    guard answer[0] & 7 == 4, (1...15).contains(answer[1]), answer[24..<32].elementsEqual(asked) else { return nil }
    let arrived = time(answer[32..<40])
    let left = time(answer[40..<48])
    let sum = (arrived - sent.milliseconds) + (left - received.milliseconds)
    return .milliseconds(sum / 2)
  }

  private static func stamp(_ time: WallTime) -> [UInt8] {
    let seconds = UInt32(truncatingIfNeeded: time.seconds + epoch)
    let fraction = UInt32((time.milliseconds - time.seconds * 1000) << 32 / 1000)
    return (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (24 - 8 * $0)) }
      + (0..<4).map { UInt8(truncatingIfNeeded: fraction >> (24 - 8 * $0)) }
  }

  /// Milliseconds since 1970; a number without its top bit is after February 2036 (RFC 4330 section 3).
  private static func time(_ bytes: ArraySlice<UInt8>) -> Int64 {
    let whole = bytes.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let fraction = bytes.suffix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let era: Int64 = whole & 0x8000_0000 == 0 ? 1 << 32 : 0
    return (whole + era - epoch) * 1000 + (fraction * 1000) >> 32
  }
}
