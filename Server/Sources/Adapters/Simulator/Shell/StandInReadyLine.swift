package import PabalPrimitives

/// What a started stand-in says of itself: all that anybody needs to use it.
package struct StandInReadyLine: Sendable {
  /// `https://host:port` of each personality.
  package let sandbox: String
  package let production: String
  package let caFile: String
  package let keyFile: String
  package let keyID: String
  package let teamID: String
  package let topic: String
  /// A client certificate for both environments: without a passphrase, and as PEM.
  package let p12File: String
  package let certFile: String
  package let certKeyFile: String
  /// `http://host:port` of the control API; `nil` when it has no port of its own.
  package let control: String?
  /// At most `listedDevices`; the rest is in the control API.
  package let devices: [StandInDevice]
  package let version: String
  package let processID: Int

  package static let listedDevices = 100

  package var json: JSONValue {
    [
      "apns": [
        "sandbox": .string(sandbox), "production": .string(production), "caFile": .string(caFile),
        "keyFile": .string(keyFile), "keyId": .string(keyID), "teamId": .string(teamID), "topic": .string(topic),
        "p12File": .string(p12File), "certFile": .string(certFile), "certKeyFile": .string(certKeyFile),
      ],
      "control": JSONValue(control),
      "devices": .array(
        devices.map { device in
          [
            "id": .string(device.id), "token": .string(Hex.encode(device.token)),
            "environment": .string(device.environment.rawValue),
          ]
        }),
      "version": .string(version),
      "pid": .int(Int64(processID)),
    ]
  }
}
