import APNs
import Cryptography
import Delivery
import EventLoop
import PabalModel
import PabalPrimitives
import ProviderTransport
import TLS

/// The two roads of test mode. Made of a stand-in's ready line only, so they can dial nothing else.
struct TestTransports: Sendable {
  /// After so many failed dials pushes go back to the store, where devices and wishes are looked at before the next
  /// try.
  private static let dialsMaximum = 2

  private let sandbox: APNsTransport
  private let production: APNsTransport

  /// - Parameter sharing: makes both roads use one provider token.
  init(
    _ simulator: SimulatorLine, loop: any Loop, clock: Clock,
    sharing: (APNsTokenCredential) throws -> APNsTokenCredential
  ) throws(UpError) {
    do {
      let authority = try Self.text(of: simulator.caFile)
      let key = try P256SigningKey(pem: String(decoding: Self.text(of: simulator.keyFile), as: UTF8.self))
      let credential = APNsCredential.token(
        try sharing(APNsTokenCredential(teamID: simulator.teamID, keyID: simulator.keyID, signingKey: key)))
      let tls = try TLSClientContext(trust: .authorities(pem: authority))
      func transport(_ endpoint: Endpoint) -> APNsTransport {
        APNsTransport(
          configuration: APNsTransportConfiguration(
            endpoint: endpoint, tls: tls, credential: credential,
            pool: PoolMachine.Rules(dialsMaximum: Self.dialsMaximum),
            // The dispatcher's own limit counts: who waited here in front of the door could not be called back.
            queueLimit: .max, clock: clock), loop: loop)
      }
      sandbox = transport(simulator.sandbox)
      production = transport(simulator.production)
    } catch let error as UpError {
      throw error
    } catch {
      throw UpError(.simulator, "The stand-in's certificate or key file cannot be used.", cause: error)
    }
  }

  subscript(_ environment: PushEnvironment) -> APNsTransport {
    switch environment {
    case .sandbox: sandbox
    case .production: production
    }
  }

  /// What is written may finish within `grace`, the rest ends now.
  func interrupt(grace: Duration) {
    sandbox.interrupt(grace: grace)
    production.interrupt(grace: grace)
  }

  func shutdown(grace: Duration) async {
    await sandbox.shutdown(grace: grace)
    await production.shutdown(grace: grace)
  }

  private static func text(of file: String) throws(UpError) -> [UInt8] {
    guard let text = try DataFolder.read(file) else {
      throw UpError(.simulator, "\(file), which the stand-in's ready line names, is missing.")
    }
    return Array(text.utf8)
  }
}
