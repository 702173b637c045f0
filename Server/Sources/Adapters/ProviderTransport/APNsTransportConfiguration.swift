package import APNs
package import Delivery
package import EventLoop
package import PabalPrimitives
package import TLS

/// One provider endpoint with one credential: another of either is another transport, as Apple binds a connection to
/// the team of its first push.
package struct APNsTransportConfiguration: Sendable {
  package var endpoint: Endpoint
  /// The name to verify; `nil`: the endpoint's host.
  package var serverName: String?
  /// `nil`: plaintext, for the scripted network only.
  package var tls: TLSClientContext?
  package var credential: APNsCredential
  package var pool: PoolMachine.Rules
  package var rules: DeliveryRules
  /// Requests in flight over all connections.
  package var concurrency: Int
  /// A connection that was quiet for so long is asked before it is trusted with a push.
  package var quietLimit: Duration
  /// How long it has to answer.
  package var pingTimeout: Duration
  /// Pushes inside the transport, those that wait for a repeat included; beyond it `send` waits.
  /// `nil`: by `concurrency`.
  package var queueLimit: Int?
  package var clock: Clock
  package var randomness: Randomness
  /// For the simulation, which proves itself by finding it.
  package var planted: PlantedBug?

  package init(
    endpoint: Endpoint, serverName: String? = nil, tls: TLSClientContext?, credential: APNsCredential,
    pool: PoolMachine.Rules = PoolMachine.Rules(), rules: DeliveryRules = DeliveryRules(),
    concurrency: Int = TransportLimits.concurrency, quietLimit: Duration = .seconds(60),
    pingTimeout: Duration = .seconds(10), queueLimit: Int? = nil, clock: Clock = .system,
    randomness: Randomness = .system
  ) {
    self.endpoint = endpoint
    self.serverName = serverName
    self.tls = tls
    self.credential = credential
    self.pool = pool
    self.rules = rules
    self.concurrency = concurrency
    self.quietLimit = quietLimit
    self.pingTimeout = pingTimeout
    self.queueLimit = queueLimit
    self.clock = clock
    self.randomness = randomness
  }

  /// What a pool of transports is keyed by. The fingerprint holds no secret.
  package var poolKey: APNsPoolKey {
    APNsPoolKey(endpoint: endpoint, teamID: credential.teamID, keyID: credential.keyID)
  }
}

/// Two senders may share a transport if and only if these are equal.
package struct APNsPoolKey: Hashable, Sendable {
  package let endpoint: Endpoint
  package let teamID: String
  package let keyID: String
}
