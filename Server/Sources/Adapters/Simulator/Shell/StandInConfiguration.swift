package import PabalPrimitives

/// How a stand-in is started.
package struct StandInConfiguration: Sendable {
  /// A numeric address. Anything but loopback is reachable from elsewhere, and in the certificate.
  package var host = "127.0.0.1"
  /// Further names and numeric addresses of the certificate and of the control API's `Host`.
  package var names: [String] = []
  /// 0 takes a free port.
  package var sandboxPort: UInt16 = 0
  package var productionPort: UInt16 = 0
  /// `nil`: no port of its own; the routes are mounted elsewhere.
  package var controlPort: UInt16? = 0
  /// Holds the authority and the signing key; made if it is not there.
  package var dataFolder: String
  /// Sandbox devices minted at the start.
  package var deviceCount = 0
  /// Topic of the devices minted at the start and of those posted without one.
  package var topic = "com.example.demo"
  /// Ten characters.
  package var teamID = "PABALDEMO1"
  package var rules = StandInRules()
  /// Fault rules in force from the start: the body of `PUT …/faults`.
  package var scenario: [UInt8] = []
  /// Keys beside the folder's own, for tests of what keys may do.
  package var furtherKeys: [StandInKey] = []
  /// Gets the secrets of every TLS session, for Wireshark; `nil`: they are told nobody.
  package var keyLogFile: String?
  package var version = "0"
  package var clock = Clock.system
  package var randomness = Randomness.system

  package init(dataFolder: String) {
    self.dataFolder = dataFolder
  }
}
