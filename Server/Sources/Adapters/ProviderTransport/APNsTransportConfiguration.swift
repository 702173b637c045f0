package import APNs
package import Delivery
package import EventLoop
package import HTTP2Connections
package import PabalPrimitives
package import TLS

/// One provider endpoint with one credential: another of either is another transport, as Apple binds a connection to
/// the team of its first push.
package struct APNsTransportConfiguration: Sendable {
  package var endpoint: Endpoint
  /// The way there; `nil`: dialled directly.
  package var proxy: ProxyEndpoint?
  /// The name to verify; `nil`: the endpoint's host.
  package var serverName: String?
  /// `nil`: plaintext, for the scripted network only. For a certificate it is made by
  /// `TLSClientContext.init(trust:credential:)`, which shows it.
  package var tls: TLSClientContext?
  package var credential: APNsCredential
  package var pool: PoolMachine.Rules
  package var rules: DeliveryRules
  /// From a push's hand-over to its outcome, repeats and waiting included; an earlier expiry of its own comes first.
  /// What is unsent then ends `expired`, what is written `unknown`. `nil`: no bound but the push's own.
  package var wholeSendDeadline: Duration?
  /// Requests in flight over all connections.
  package var concurrency: Int
  /// A connection that was quiet for so long is asked before it is trusted with a push.
  package var quietLimit: Duration
  /// How long it has to answer.
  package var pingTimeout: Duration
  /// A connection without a push for so long is closed. Apple asks to keep connections, and takes frequent new ones for
  /// an attack.
  package var idleLimit: Duration?
  /// No stream is opened above this: the connection is replaced. Smaller only in tests.
  package var lastStreamID: Int32 = .max
  /// Pushes inside the transport, those that wait for a repeat included; beyond it `send` waits.
  /// `nil`: by `concurrency`.
  package var queueLimit: Int?
  package var clock: Clock
  package var randomness: Randomness
  /// For the simulation, which proves itself by finding it.
  package var planted: PlantedBug?

  package init(
    endpoint: Endpoint, proxy: ProxyEndpoint? = nil, serverName: String? = nil, tls: TLSClientContext?,
    credential: APNsCredential,
    pool: PoolMachine.Rules = PoolMachine.Rules(), rules: DeliveryRules = DeliveryRules(),
    wholeSendDeadline: Duration? = nil,
    concurrency: Int = TransportLimits.concurrency, quietLimit: Duration = .seconds(60),
    pingTimeout: Duration = .seconds(10), idleLimit: Duration? = TransportLimits.idle, queueLimit: Int? = nil,
    clock: Clock = .system,
    randomness: Randomness = .system
  ) {
    self.endpoint = endpoint
    self.proxy = proxy
    self.serverName = serverName
    self.tls = tls
    self.credential = credential
    self.pool = pool
    self.rules = rules
    self.wholeSendDeadline = wholeSendDeadline
    self.concurrency = concurrency
    self.quietLimit = quietLimit
    self.pingTimeout = pingTimeout
    self.idleLimit = idleLimit
    self.queueLimit = queueLimit
    self.clock = clock
    self.randomness = randomness
  }

  /// What a pool of transports is keyed by. The fingerprint holds no secret.
  package var poolKey: APNsPoolKey {
    APNsPoolKey(endpoint: endpoint, proxy: proxy, credential: credential.fingerprint)
  }
}

/// Two senders may share a transport if and only if these are equal.
package struct APNsPoolKey: Hashable, Sendable {
  package let endpoint: Endpoint
  package let proxy: ProxyEndpoint?
  /// `APNsCredential.fingerprint`.
  package let credential: String
}
