import APNs
import PabalModel
import PabalPrimitives
import ProviderTransport

/// How one line of the input ended, as `--json` prints it.
struct OutcomeLine {
  /// From 1: the line of the file, or the position on the command line.
  let line: Int
  let device: DeviceToken?
  let state: DeliveryState
  let status: Int?
  let reason: ReasonCode?
  let apnsID: String?
  let apnsUniqueID: String?
  let attempts: Int
  let duration: Duration
  let timestamp: WallTime?

  init(line: Int, device: DeviceToken, _ outcome: APNsOutcome) {
    self.line = line
    self.device = device
    state = outcome.state
    status = outcome.status
    reason = outcome.reason
    apnsID = outcome.attempts > 0 ? outcome.apnsID.description : nil
    apnsUniqueID = outcome.apnsUniqueID
    attempts = outcome.attempts
    duration = outcome.duration
    timestamp = outcome.timestamp
  }

  /// A line that never became a push.
  init(line: Int, device: DeviceToken?, state: DeliveryState, reason: ReasonCode) {
    self.line = line
    self.device = device
    self.state = state
    self.reason = reason
    status = nil
    apnsID = nil
    apnsUniqueID = nil
    attempts = 0
    duration = .zero
    timestamp = nil
  }

  /// All fields, in their fixed order. Written by hand: a run has millions of them.
  func appendJSON(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "{\"line\":".utf8)
    bytes.append(contentsOf: String(line).utf8)
    bytes.append(contentsOf: ",\"device\":".utf8)
    if let device {
      bytes.append(UInt8(ascii: "\""))
      for byte in device.bytes {
        bytes.append(Hex.digit(byte >> 4))
        bytes.append(Hex.digit(byte & 0x0F))
      }
      bytes.append(UInt8(ascii: "\""))
    } else {
      bytes.append(contentsOf: "null".utf8)
    }
    append("state", state.rawValue, to: &bytes)
    bytes.append(contentsOf: ",\"status\":".utf8)
    bytes.append(contentsOf: (status.map(String.init) ?? "null").utf8)
    append("reason", reason?.rawValue, to: &bytes)
    append("apnsId", apnsID, to: &bytes)
    append("apnsUniqueId", apnsUniqueID, to: &bytes)
    bytes.append(contentsOf: ",\"attempts\":".utf8)
    bytes.append(contentsOf: String(attempts).utf8)
    bytes.append(contentsOf: ",\"ms\":".utf8)
    bytes.append(contentsOf: milliseconds.utf8)
    if let timestamp {
      bytes.append(contentsOf: ",\"timestamp\":".utf8)
      bytes.append(contentsOf: String(timestamp.milliseconds).utf8)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// With one decimal, e.g. `12.3`.
  var milliseconds: String {
    let tenths = duration.nanosecondsClamped / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }

  private func append(_ name: StaticString, _ value: String?, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: ",\"".utf8)
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: "\":".utf8)
    if let value {
      bytes.append(contentsOf: JSONValue.string(value).encoded)
    } else {
      bytes.append(contentsOf: "null".utf8)
    }
  }
}
