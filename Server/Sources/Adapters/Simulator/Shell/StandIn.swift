import Cryptography
import EventLoop
import HTTP2Connections
package import HTTPServer
package import PabalPrimitives
import TLS

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A running stand-in for APNs: two personalities on one loop, and the control API.
///
/// Whoever starts it stops it. Nothing of it but the files of the data folder survives `stop`.
package final class StandIn: Sendable {
  package let readyLine: StandInReadyLine
  /// The state behind both personalities, for tests and benches in the same process.
  package let core: Locked<StandInCore>
  private let loop: UVLoop
  private let front: LoopConfined<StandInFront>
  private let web: WebServer?
  private let control: StandInControl
  private let timer: StandInTimer

  private init(
    readyLine: StandInReadyLine, core: Locked<StandInCore>, loop: UVLoop, front: LoopConfined<StandInFront>,
    web: WebServer?, control: StandInControl, timer: StandInTimer
  ) {
    self.readyLine = readyLine
    self.core = core
    self.loop = loop
    self.front = front
    self.web = web
    self.control = control
    self.timer = timer
  }

  /// Starts both personalities and the control API. When it fails, nothing is left running.
  package static func start(_ configuration: StandInConfiguration) async throws(StandInError) -> StandIn {
    guard configuration.teamID.utf8.count == 10 else {
      throw StandInError(.configuration, "A team id has ten characters; '\(configuration.teamID)' has not.")
    }
    let folder = try StandInFolder(path: configuration.dataFolder)
    let authority = try folder.authority(now: configuration.clock.wall())
    let signing = try folder.signingKey(configuration.randomness)
    let client = try folder.clientCertificate(
      for: configuration.topic, by: authority, now: configuration.clock.wall())
    let core = Locked(try makeCore(configuration, signing))
    let links = LinkBoard()
    let tls = try serverContext(authority, configuration)
    let loop = try makeLoop()
    let ports: [UInt16]
    let front = LoopConfined(StandInFront(), to: loop.mark)
    do throws(StandInError) {
      ports = try await listen(configuration, core, links, tls, on: loop, into: front)
    } catch {
      loop.stop()
      throw error
    }
    let timer = StandInTimer(loop: loop)
    let control = StandInControl(
      core: core, links: links, topic: configuration.topic,
      act: { actions in loop.execute { front.value.perform(actions) } },
      wait: { await timer.wait(milliseconds: $0) })
    let web: WebServer?
    let controlPort: UInt16?
    do throws(StandInError) {
      (web, controlPort) = try startControl(configuration, control)
    } catch {
      loop.stop()
      throw error
    }
    let host = Endpoint(host: configuration.host, port: 0).description.dropLast(2)
    let line = StandInReadyLine(
      sandbox: "https://\(host):\(ports[0])", production: "https://\(host):\(ports[1])",
      caFile: folder.authorityPath, keyFile: signing.path, keyID: signing.keyID, teamID: configuration.teamID,
      topic: configuration.topic, p12File: client.p12Path, certFile: client.certificatePath,
      certKeyFile: client.keyPath, control: controlPort.map { "http://\(host):\($0)" },
      devices: core.withLock { $0.devices(from: 0, limit: StandInReadyLine.listedDevices).page },
      version: configuration.version, processID: Int(getpid()))
    return StandIn(
      readyLine: line, core: core, loop: loop, front: front, web: web, control: control, timer: timer)
  }

  /// The control API for another server's router.
  package func controlRoutes(prefix: String) -> [Route] {
    control.routes(prefix: prefix)
  }

  /// Ends the control API, then the connections, then the loop.
  package func stop() async {
    timer.stop()
    await web?.stop(grace: .zero)
    loop.execute { [front] in front.value.stop() }
    loop.stop()
  }

  private static func makeCore(
    _ configuration: StandInConfiguration, _ signing: StandInFolder.SigningKey
  ) throws(StandInError) -> StandInCore {
    let verifier = signing.key.publicKey
    let key = StandInKey(keyID: signing.keyID, teamID: configuration.teamID) { message, signature in
      verifier.isValid(signature: signature, for: message)
    }
    var core = StandInCore(
      keys: [key] + configuration.furtherKeys, bundles: [configuration.topic], rules: configuration.rules,
      clock: configuration.clock, randomness: configuration.randomness, digest: StandInDigest.hex)
    try readScenario(configuration.scenario, into: &core)
    do throws(StandInDeviceFault) {
      for _ in 0..<configuration.deviceCount {
        _ = try core.addDevice(StandInDeviceDraft(topic: configuration.topic))
      }
    } catch {
      throw StandInError(.configuration, "At most \(StandInLimits.devices) devices can be minted; ask for fewer.")
    }
    return core
  }

  private static func readScenario(_ bytes: [UInt8], into core: inout StandInCore) throws(StandInError) {
    guard !bytes.isEmpty else { return }
    do throws(APIError) {
      let (rules, seed) = try FaultRuleText.read(bytes)
      core.setFaults(rules, seed: seed)
    } catch {
      let place = error.parameter.map { " (\($0))" } ?? ""
      throw StandInError(.configuration, "The scenario cannot be used: \(error.message)\(place)", cause: error)
    }
  }

  private static func serverContext(
    _ authority: CertificateAuthority, _ configuration: StandInConfiguration
  ) throws(StandInError) -> TLSServerContext {
    let isAddress = { (name: String) in
      name.contains(":") || name.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    }
    let names = ["localhost", "127.0.0.1", "::1", configuration.host] + configuration.names
    let unique = names.enumerated().filter { !names[..<$0.offset].contains($0.element) }.map(\.element)
    do {
      let issued = try authority.issueServerCertificate(
        commonName: "Pabal stand-in APNs", dnsNames: unique.filter { !isAddress($0) },
        ipAddresses: unique.filter(isAddress), now: configuration.clock.wall())
      return try TLSServerContext(
        certificatePEM: Array(issued.certificatePEM.utf8), keyPEM: Array(issued.keyPEM.utf8),
        clientAuthentication: .optional(authorities: Array(authority.certificatePEM.utf8)),
        keyLog: try configuration.keyLogFile.map { try KeyLogFile(path: $0).log })
    } catch let error as StandInError {
      throw error
    } catch {
      throw StandInError(.credentials, "No certificate could be issued for \(unique).", cause: error)
    }
  }

  private static func makeLoop() throws(StandInError) -> UVLoop {
    do throws(ChannelError) {
      return try UVLoop()
    } catch {
      throw StandInError(.listen, "No event loop could be started.", cause: error)
    }
  }

  private static func listen(
    _ configuration: StandInConfiguration, _ core: Locked<StandInCore>, _ links: LinkBoard, _ tls: TLSServerContext,
    on loop: UVLoop, into front: LoopConfined<StandInFront>
  ) async throws(StandInError) -> [UInt16] {
    let wanted: [(StandInEnvironment, UInt16)] = [
      (.sandbox, configuration.sandboxPort), (.production, configuration.productionPort),
    ]
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<[UInt16], StandInError>, Never>) in
      loop.execute {
        var ports: [UInt16] = []
        for (environment, port) in wanted {
          let service = StandInService(core: core, environment: environment, loop: loop) { links.wake($0) }
          let listener = HTTP2Listener(
            loop: loop, tls: tls, configuration: StandInService.configuration(configuration.rules), handler: service)
          do throws(ChannelError) {
            ports.append(try listener.listen(on: Endpoint(host: configuration.host, port: port)))
            front.value.add(listener, service)
          } catch {
            done.resume(
              returning: .failure(
                StandInError(
                  .listen,
                  "Port \(port) of \(configuration.host) cannot be had for \(environment.rawValue) pushes; "
                    + "give another, or 0 for a free one.", cause: error)))
            return
          }
        }
        front.value.watchIdleConnections(core, on: loop)
        done.resume(returning: .success(ports))
      }
    }
    switch result {
    case .success(let ports): return ports
    case .failure(let error): throw error
    }
  }

  private static func startControl(
    _ configuration: StandInConfiguration, _ control: StandInControl
  ) throws(StandInError) -> (WebServer?, UInt16?) {
    guard let port = configuration.controlPort else { return (nil, nil) }
    let address = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
    let server = WebServer(
      configuration: WebServerConfiguration(
        host: configuration.host, port: port,
        allowedHosts: ["localhost", "127.0.0.1", "[::1]", address] + configuration.names),
      router: Router(control.routes(prefix: "/v1/simulator")))
    do throws(WebServerError) {
      return (server, try server.start())
    } catch {
      throw StandInError(.listen, "The control API cannot listen on port \(port): \(error.message)", cause: error)
    }
  }
}
