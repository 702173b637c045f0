import APNs
import Cryptography
import Delivery
import EventLoop
import PabalModel
import PabalPrimitives
import ProviderTransport
import TLS
import TestSupport

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A real HTTP/2 server on loopback with a certificate of a private authority, and the engine pointed at it.
///
/// The server may come up later than the first dial: the pool's back-off is what waits for it.
final class EnginePeer: Sendable {
  let folder: TemporaryFolder
  let loop: UVLoop
  let transport: APNsTransport
  private let process: ChildProcess

  /// `nghttpd` answers 200 to paths under `/3/device/` for which there is a file, 404 to others.
  static func nghttpd(streams: Int, tokens: [String]) async throws -> EnginePeer {
    let peer = try await EnginePeer { folder, port in
      try makeFolders(folder, ["htdocs", "htdocs/3", "htdocs/3/device"])
      for token in tokens { try TestFiles.write("", to: folder.file("htdocs/3/device/\(token)")) }
      return (
        program("nghttpd"),
        [
          "-m", "\(streams)", "-n", "1", "-a", "127.0.0.1", "-d", folder.file("htdocs"), "\(port)",
          folder.file("key.pem"), folder.file("cert.pem"),
        ]
      )
    }
    return peer
  }

  /// `nginx` answers 200 before the body is in, then ends the stream with RST_STREAM(NO_ERROR).
  ///
  /// - Parameter requests: after so many on one connection it says GOAWAY.
  static func nginx(requests: Int) async throws -> EnginePeer {
    try await EnginePeer { folder, port in
      try makeFolders(folder, ["body", "proxy", "fastcgi", "uwsgi", "scgi"])
      let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { name in
        "\(name)_temp_path \(folder.file(name == "client_body" ? "body" : name));"
      }
      let configuration = """
        worker_processes 1; daemon off; pid \(folder.file("pid")); error_log stderr;
        events { worker_connections 64; }
        http {
          access_log off; keepalive_requests \(requests); http2_max_concurrent_streams 1000;
          \(temporary.joined(separator: " "))
          server {
            listen 127.0.0.1:\(port) ssl http2;
            ssl_certificate \(folder.file("cert.pem")); ssl_certificate_key \(folder.file("key.pem"));
            location / { return 200; }
          }
        }
        """
      try TestFiles.write(configuration, to: folder.file("nginx.conf"))
      return (program("nginx"), ["-p", folder.path, "-c", folder.file("nginx.conf"), "-e", "stderr"])
    }
  }

  /// `h2o` reads every body to its end, then answers 200 with the `apns-id` it was given.
  static func h2o() async throws -> EnginePeer {
    try await EnginePeer { folder, port in
      let configuration = """
        num-threads: 1
        \(getuid() == 0 ? "user: root" : "")
        listen:
          host: 127.0.0.1
          port: \(port)
          ssl:
            certificate-file: \(folder.file("cert.pem"))
            key-file: \(folder.file("key.pem"))
        hosts:
          default:
            paths:
              /:
                mruby.handler: |
                  Proc.new { |env| [200, {"apns-id" => env["HTTP_APNS_ID"].to_s}, []] }
        """
      try TestFiles.write(configuration, to: folder.file("h2o.conf"))
      return (program("h2o"), ["-m", "worker", "-c", folder.file("h2o.conf")])
    }
  }

  private init(_ command: (TemporaryFolder, UInt16) throws -> (String, [String])) async throws {
    folder = try TemporaryFolder()
    let now = Clock.system.wall()
    let authority = try CertificateAuthority.make(commonName: "Test authority", now: now)
    let issued = try authority.issueServerCertificate(
      commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], now: now)
    try TestFiles.write(issued.certificatePEM, to: folder.file("cert.pem"))
    try TestFiles.write(issued.keyPEM, to: folder.file("key.pem"))
    let port = try freePort()
    let (executable, arguments) = try command(folder, port)
    process = try ChildProcess(executable, arguments)
    loop = try UVLoop()
    var configuration = APNsTransportConfiguration(
      endpoint: Endpoint(host: "127.0.0.1", port: port),
      tls: try TLSClientContext(trust: .authorities(pem: Array(authority.certificatePEM.utf8))),
      credential: try APNsCredential(teamID: "TEAM123456", keyID: "KEY1234567", signingKey: .generate()))
    configuration.queueLimit = 1000
    configuration.pool = PoolMachine.Rules(
      backOffFirst: .milliseconds(20), backOffMaximum: .milliseconds(200), dialsMaximum: 200)
    transport = APNsTransport(configuration: configuration, loop: loop)
  }

  func stop() async {
    await transport.shutdown()
    loop.stop()
    process.signal(SIGTERM)
    _ = await process.result()
  }

  /// Why the last connection ended, for failures.
  func lastError() async -> String {
    await transport.statistics().lastConnectionError.map { "\($0)" } ?? "none"
  }
}

/// Pushes to distinct tokens; `tag` is the position.
func enginePushes(_ tokens: [String], bodyBytes: Int = 250, collapseID: String? = nil) throws -> [APNsPush] {
  let frame = #"{"aps":{"alert":""}}"#
  let text = String(repeating: "x", count: bodyBytes - frame.utf8.count)
  let payload = try APNsPayload(checking: Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8), for: .alert)
  let head = try APNsHead(topic: Topic(rawValue: "com.example.app"), pushType: .alert, collapseID: collapseID)
  let randomness = Randomness.seeded(7)
  return try tokens.enumerated().map { index, token in
    APNsPush(
      tag: UInt64(index), request: APNsRequest(token: try DeviceToken(parsing: token), head: head, payload: payload),
      apnsID: APNsID(random: randomness), expiresAt: Clock.system.wall().advanced(by: .seconds(3600)))
  }
}

/// `count` tokens of 32 bytes, the same for the same seed.
func engineTokens(_ count: Int, seed: UInt64 = 1) -> [String] {
  let randomness = Randomness.seeded(seed)
  return (0..<count).map { _ in Hex.encode(randomness.fill(32)) }
}

private func makeFolders(_ folder: TemporaryFolder, _ names: [String]) throws {
  for name in names where mkdir(folder.file(name), 0o700) != 0 {
    throw EnginePeerFault(description: "cannot make \(folder.file(name)): errno \(errno)")
  }
}

/// Servers are in `sbin`, which is not in everybody's path. A missing one fails in `posix_spawn`, by its name.
private func program(_ name: String) -> String {
  let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"]
  return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 } ?? "/usr/sbin/\(name)"
}

/// A port that nobody listens on now: neither server can say which one it got.
private func freePort() throws -> UInt16 {
  let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard file >= 0 else { throw EnginePeerFault(description: "no socket: errno \(errno)") }
  defer { close(file) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
      bind(file, generic, length) == 0 ? getsockname(file, generic, &length) : -1
    }
  }
  guard status == 0 else { throw EnginePeerFault(description: "no free port: errno \(errno)") }
  return UInt16(bigEndian: address.sin_port)
}

/// The engine with another authority than the peer's.
final class EngineStranger: Sendable {
  let loop: UVLoop
  let transport: APNsTransport

  init(port: UInt16) throws {
    let authority = try CertificateAuthority.make(commonName: "Another authority", now: Clock.system.wall())
    loop = try UVLoop()
    var configuration = APNsTransportConfiguration(
      endpoint: Endpoint(host: "127.0.0.1", port: port),
      tls: try TLSClientContext(trust: .authorities(pem: Array(authority.certificatePEM.utf8))),
      credential: try APNsCredential(teamID: "TEAM123456", keyID: "KEY1234567", signingKey: .generate()))
    configuration.pool = PoolMachine.Rules(
      backOffFirst: .milliseconds(1), backOffMaximum: .milliseconds(5), dialsMaximum: 3)
    transport = APNsTransport(configuration: configuration, loop: loop)
  }

  func stop() async {
    await transport.shutdown()
    loop.stop()
  }
}

struct EnginePeerFault: Error, CustomStringConvertible {
  let description: String
}
