package import EventLoop
import HTTP2
package import TLS

/// How a client dials and what it allows.
package struct HTTP2ClientConfiguration: Sendable {
  package var endpoint: Endpoint
  /// Asked for a tunnel to `endpoint`; `nil`: the endpoint is dialled itself.
  package var proxy: ProxyEndpoint?
  /// The name that the certificate must bear, also sent as SNI. An address literal is checked as an address.
  package var serverName: String
  /// nil: plaintext with prior knowledge, for the scripted network only.
  package var tls: TLSClientContext?
  /// From `start` until the peer's first SETTINGS: name, TCP, proxy, TLS, HTTP/2. One bound for all of it, so that a
  /// dial that hangs anywhere ends in time (field case OC-12).
  package var dialTimeout: Duration
  /// Requests open at once, whatever the peer allows.
  package var concurrentStreamsCap: Int
  package var responseBodyLimit: Int
  /// Names of the response headers that are kept, in lower case; nil keeps all. Each response that has one costs an
  /// allocation.
  package var keptHeaders: [String]?
  /// Responses of this status without kept headers and body come as `plainResponses`; 0: none.
  package var plainStatus: Int
  /// 1 but in tests of stream-id exhaustion. Odd.
  package var firstStreamID: Int32
  /// No stream is opened above this: the connection drains and is to be replaced. RFC 9113 section 5.1.1 has no larger
  /// id than 2^31 - 1.
  package var lastStreamID: Int32
  /// For the simulation, which proves itself by finding it: body bytes by which the peer's window is overrun.
  package var plantedWindowSlack = 0

  package init(
    endpoint: Endpoint, proxy: ProxyEndpoint? = nil, serverName: String? = nil, tls: TLSClientContext?,
    dialTimeout: Duration = .seconds(10),
    concurrentStreamsCap: Int = HTTP2Limits.concurrentStreams,
    responseBodyLimit: Int = HTTP2Limits.responseBodyBytes, keptHeaders: [String]? = nil, plainStatus: Int = 0,
    firstStreamID: Int32 = 1,
    lastStreamID: Int32 = .max
  ) {
    self.endpoint = endpoint
    self.proxy = proxy
    self.serverName = serverName ?? endpoint.host
    self.tls = tls
    self.dialTimeout = dialTimeout
    self.concurrentStreamsCap = concurrentStreamsCap
    self.responseBodyLimit = responseBodyLimit
    self.keptHeaders = keptHeaders
    self.plainStatus = plainStatus
    self.firstStreamID = firstStreamID
    self.lastStreamID = lastStreamID
  }
}
