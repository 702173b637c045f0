import Cryptography
import PabalPrimitives
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `pabal doctor` against the stand-in: each check seen to pass, and seen to fail with what to do.
@Suite struct CommandLineDoctorTests {
  private func doctor(_ stage: CommandStage, _ words: [String]) async throws -> [String: JSONSlice] {
    let result = try await stage.pabal(["doctor", "--json"] + words)
    let object = try #require(try result.objects().first, "\(result.errors)")
    let failures = try #require(object["failures"]?.int)
    #expect(result.code == (failures == 0 ? 0 : 6))
    var checks: [String: JSONSlice] = [:]
    for check in object["checks"]?.elements ?? [] { checks[check["check"]?.string ?? ""] = check }
    return checks
  }

  private func state(_ checks: [String: JSONSlice], _ name: String) -> String? { checks[name]?["state"]?.string }

  @Test func everyStepIsSeenAndTheKeyIsTriedOnceAMinute() async throws {
    try await withCommandStage { stage in
      let checks = try await doctor(stage, stage.target())
      for name in ["key_file", "dns", "tcp", "tls", "http2", "key"] { #expect(state(checks, name) == "ok", "\(name)") }
      #expect(state(checks, "clock") == "skipped")
      #expect(checks["key"]?["detail"]?["en"]?.string == "accepted (probe: BadDeviceToken, as expected)")
      #expect(try await stage.requests().count == 1)
      #expect(try await stage.inbox().isEmpty)

      let again = try await doctor(stage, stage.target())
      #expect(state(again, "key") == "skipped")
      #expect(again["key"]?["detail"]?["en"]?.string?.contains("400 BadDeviceToken") == true)
      #expect(try await stage.requests().count == 1)

      let words = try await stage.pabal(["doctor"] + stage.target())
      #expect(words.code == 0)
      #expect(words.output.contains("✓ http2         127.0.0.1:"))
      #expect(words.errors == "0 failed, 0 warnings\n")
    }
  }

  @Test func aCertificateIsTriedAsWell() async throws {
    try await withCommandStage { stage in
      let way = try ["--endpoint", stage.apns("sandbox"), "--ca", stage.apns("caFile")]
      let checks = try await doctor(stage, way + ["--p12", try stage.apns("p12File")])
      #expect(state(checks, "key_file") == "ok" && state(checks, "key") == "ok", "\(checks)")
      #expect(checks["key_file"]?["detail"]?["en"]?.string?.contains("com.example.demo") == true)
      let pair = try ["--cert", stage.apns("certFile"), "--key", stage.apns("certKeyFile")]
      #expect(state(try await doctor(stage, way + pair), "key_file") == "ok")
    }
  }

  @Test func certificatesThatCannotBeUsedFailForTheirOwnReason() async throws {
    try await withCommandStage { stage in
      let way = try ["--endpoint", stage.apns("sandbox"), "--ca", stage.apns("caFile")]
      let now = Clock.system.wall()
      let authority = try CertificateAuthority.make(commonName: "Somebody", now: now)
      let written = { (name: String, begin: WallTime, passphrase: String) in
        let identity = try authority.issueClientCertificate(
          commonName: "Apple Push Services: com.example.demo", userID: "com.example.demo", now: begin)
        let path = stage.folder.file(name)
        try TestFiles.write(try PKCS12.write(identity, passphrase: passphrase, friendlyName: name), to: path)
        return path
      }
      let expired = try written("expired.p12", now.advanced(by: .seconds(-400 * 86_400)), "")
      let locked = try written("locked.p12", now, "open sesame")
      let wrong = stage.folder.file("wrong")
      try TestFiles.write("sesame\n", to: wrong)
      let text = stage.folder.file("text.p12")
      try TestFiles.write("hello", to: text)
      for (flags, detail, advice) in [
        (["--p12", expired], "The certificate ended on ", "Renew it"),
        (["--p12", locked], "--passphrase-file", "Give the passphrase"),
        (["--p12", locked, "--passphrase-file", wrong], "passphrase", "Keychain Access"),
        (["--p12", text], "text.p12", "Export the certificate again"),
        (["--cert", text], "text.p12", "PEM"), (["--p12", expired, "--key", text], "--key goes with --cert", "--p12"),
      ] {
        let checks = try await doctor(stage, way + flags)
        #expect(state(checks, "key_file") == "failed", "\(flags)")
        let shown = try #require(checks["key_file"])
        let words = (shown["detail"]?["en"]?.string ?? "", shown["do"]?["en"]?.string ?? "")
        #expect(words.0.contains(detail) && words.1.contains(advice), "\(flags): \(words)")
        #expect(state(checks, "http2") == "ok" && state(checks, "key") == "skipped", "\(flags)")
      }
      // Opened by its passphrase, and then not one that this APNs knows.
      let right = stage.folder.file("right")
      try TestFiles.write("open sesame\n", to: right)
      let stranger = try await doctor(stage, way + ["--p12", locked, "--passphrase-file", right])
      #expect(state(stranger, "key_file") == "ok")
      #expect(stranger.values.contains { $0["state"]?.string == "failed" }, "\(stranger)")

      let foreign = try await doctor(stage, way + ["--p12", stage.apns("p12File"), "--topic", "com.example.other"])
      #expect(state(foreign, "key") == "failed", "\(foreign)")
    }
  }

  @Test func withoutAKeyTheWayAloneIsChecked() async throws {
    try await withCommandStage { stage in
      let way = try ["--endpoint", stage.apns("sandbox"), "--ca", stage.apns("caFile")]
      let checks = try await doctor(stage, way)
      #expect(state(checks, "http2") == "ok" && state(checks, "key") == "skipped")
      #expect(checks["key_file"] == nil)
      #expect(try await stage.requests().isEmpty)
    }
  }

  @Test func anotherTeamsKeyFails() async throws {
    try await withCommandStage { stage in
      let file = stage.folder.file("AuthKey_KEY1234567.p8")
      try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: file)
      let target = try ["--p8", file] + stage.target().dropFirst(4)
      let checks = try await doctor(stage, target)
      #expect(state(checks, "key") == "failed")
      #expect(checks["key"]?["detail"]?["en"]?.string?.hasPrefix("403 InvalidProviderToken") == true)
      #expect(checks["key"]?["do"]?["en"]?.string == "Check the key file, key id and team id.")
      let korean = try await ChildProcess.run(
        try TestFiles.pabal(), ["doctor"] + target, environment: stage.environment.merging(["PABAL_LANG": "ko"]) { $1 })
      #expect(korean.output.contains("1분에 한 번만"))
    }
  }

  @Test func keysThatCannotBeReadFailWithoutStoppingTheRest() async throws {
    try await withCommandStage { stage in
      let way = try ["--endpoint", stage.apns("sandbox"), "--ca", stage.apns("caFile"), "--topic", "com.example.demo"]
      let absent = try await doctor(
        stage, way + ["--p8", "absent.p8", "--key-id", "KEY1234567", "--team", "TEAM123456"])
      #expect(
        state(absent, "key_file") == "failed" && state(absent, "http2") == "ok" && state(absent, "key") == "skipped")
      let open = stage.folder.file("AuthKey_KEY1234567.p8")
      try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: open, mode: 0o644)
      chmod(open, 0o644)
      let readable = try await doctor(stage, way + ["--p8", open, "--team", "TEAM123456"])
      #expect(state(readable, "key_file") == "warning")
      #expect(readable["key_file"]?["do"]?["en"]?.string == "chmod 600 \(open)")
    }
  }

  @Test func theWayFailsAtTheStepThatFails() async throws {
    try await withCommandStage { stage in
      let (url, ca) = try (stage.apns("sandbox"), stage.apns("caFile"))
      let port = try #require(url.split(separator: ":").last)
      let control = try #require(stage.ready["control"]?.string?.split(separator: ":").last)

      let strangers = try await doctor(stage, ["--endpoint", url])
      #expect(state(strangers, "tcp") == "ok" && state(strangers, "tls") == "failed")
      #expect(strangers["tls"]?["do"]?["en"]?.string?.contains("--ca") == true)

      let plain = try await doctor(stage, ["--endpoint", "https://127.0.0.1:\(control)", "--ca", ca])
      #expect(state(plain, "tls") == "failed" && plain["http2"] == nil)

      // Port 9 is for discarding (RFC 863); nobody has listened there for decades.
      let refused = try await doctor(stage, ["--endpoint", "https://127.0.0.1:9", "--ca", ca])
      #expect(state(refused, "dns") == "ok" && state(refused, "tcp") == "failed" && refused["tls"] == nil)

      // RFC 2606: no such name.
      let nameless = try await doctor(stage, ["--endpoint", "https://apns.invalid:\(port)", "--ca", ca])
      #expect(state(nameless, "dns") == "failed" && nameless["tcp"] == nil)
    }
  }

  @Test func theClockIsComparedWithATimeServer() async throws {
    try await withCommandStage(devices: 0) { stage in
      let way = try ["--endpoint", stage.apns("sandbox"), "--ca", stage.apns("caFile")]
      for (offset, expected) in [(0, "ok"), (-20, "ok"), (3600, "failed"), (-40, "failed")] as [(Int64, String)] {
        let server = try FakeTimeServer(offsetSeconds: offset)
        let checks = try await doctor(stage, way + ["--time-server", "127.0.0.1:\(server.port)"])
        #expect(state(checks, "clock") == expected, "\(offset): \(String(describing: checks["clock"]))")
        if expected == "failed" { #expect(checks["clock"]?["do"]?["en"]?.string?.contains("NTP") == true) }
      }
      let refusing = try FakeTimeServer(offsetSeconds: 0, stratum: 0)
      let unheard = try await doctor(stage, way + ["--time-server", "127.0.0.1:\(refusing.port)"])
      #expect(state(unheard, "clock") == "warning")
    }
  }
}

/// Answers one question of SNTP (RFC 4330).
private final class FakeTimeServer: Sendable {
  let port: UInt16

  init(offsetSeconds: Int64, stratum: UInt8 = 2) throws {
    let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        bind(socket, raw, length) == 0 ? getsockname(socket, raw, &length) : -1
      }
    }
    guard status == 0 else { throw TestFiles.Failure(description: "no UDP port: errno \(errno)") }
    port = UInt16(bigEndian: address.sin_port)
    let answering = Answering(socket: socket, offsetSeconds: offsetSeconds, stratum: stratum)
    var thread = pthread_t()
    let box = Unmanaged.passRetained(answering).toOpaque()
    pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Answering>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, box)
    pthread_detach(thread)
  }

  private final class Answering: Sendable {
    let socket: Int32
    let offsetSeconds: Int64
    let stratum: UInt8

    init(socket: Int32, offsetSeconds: Int64, stratum: UInt8) {
      self.socket = socket
      self.offsetSeconds = offsetSeconds
      self.stratum = stratum
    }

    func run() {
      defer { close(socket) }
      var question = [UInt8](repeating: 0, count: 48)
      var asker = sockaddr()
      var length = socklen_t(MemoryLayout<sockaddr>.size)
      // Nobody who asks: the thread ends with the test's process.
      guard recvfrom(socket, &question, 48, 0, &asker, &length) == 48 else { return }
      let seconds = UInt32(truncatingIfNeeded: Clock.system.wall().seconds + offsetSeconds + 2_208_988_800)
      let stamp = (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (24 - 8 * $0)) } + [0x80, 0, 0, 0]
      var answer: [UInt8] = [0x24, stratum] + [UInt8](repeating: 0, count: 22)
      answer += question[40..<48] + stamp + stamp
      sendto(socket, answer, answer.count, 0, &asker, length)
    }
  }
}
