import APNs
import PabalModel
import PabalPrimitives
import ProviderTransport

/// How one line of the input ended.
struct OutcomeLine {
  /// From 1: the line of the file, or the position on the command line.
  let line: Int
  let device: DeviceToken?
  /// What stands in the place of a token and is none.
  let text: String?
  let state: DeliveryState
  let status: Int?
  let reason: ReasonCode?
  let apnsID: APNsID?
  let apnsUniqueID: String?
  let attempts: Int
  let nanoseconds: Int64
  let timestamp: WallTime?

  init(line: Int, device: DeviceToken, _ outcome: APNsOutcome) {
    self.line = line
    self.device = device
    text = nil
    state = outcome.state
    status = outcome.status
    reason = outcome.reason
    apnsID = outcome.attempts > 0 ? outcome.apnsID : nil
    apnsUniqueID = outcome.apnsUniqueID
    attempts = outcome.attempts
    nanoseconds = outcome.nanoseconds
    timestamp = outcome.timestamp
  }

  /// A line that never became a push, or whose push an earlier run lost.
  init(line: Int, device: DeviceToken?, text: String? = nil, state: DeliveryState, reason: ReasonCode) {
    self.line = line
    self.device = device
    self.text = text
    self.state = state
    self.reason = reason
    status = nil
    apnsID = nil
    apnsUniqueID = nil
    attempts = 0
    nanoseconds = 0
    timestamp = nil
  }

  /// With one decimal, e.g. `12.3`.
  var milliseconds: String {
    let tenths = nanoseconds / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}

/// The members of an outcome as `--json` prints it, in their order.
enum OutcomeField: String, CaseIterable {
  case line, device, state, status, reason, apnsId, apnsUniqueId, attempts, ms
  /// On 410 only.
  case timestamp
}

extension OutcomeLine {
  /// Written by hand, without a text or an object for each line: a run has millions of them.
  func appendJSON(_ fields: [OutcomeField], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    let start = bytes.count
    for field in fields {
      guard field != .timestamp || timestamp != nil else { continue }
      if bytes.count > start { bytes.append(UInt8(ascii: ",")) }
      append(field, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  private func append(_ field: OutcomeField, to bytes: inout [UInt8]) {
    switch field {
    case .line: Self.append("\"line\":", line, to: &bytes)
    case .device:
      Self.append("\"device\":", to: &bytes)
      appendDevice(to: &bytes)
    case .state:
      Self.append("\"state\":\"", to: &bytes)
      bytes.append(contentsOf: state.rawValue.utf8)
      bytes.append(UInt8(ascii: "\""))
    case .status: Self.append("\"status\":", status, to: &bytes)
    case .reason: Self.append("\"reason\":", reason?.rawValue, to: &bytes)
    case .apnsId:
      guard let apnsID else { return Self.append("\"apnsId\":null", to: &bytes) }
      Self.append("\"apnsId\":\"", to: &bytes)
      withUnsafeTemporaryAllocation(byteCount: APNsID.textBytes, alignment: 8) { text in
        _ = apnsID.write(to: text, at: 0)
        bytes.append(contentsOf: text)
      }
      bytes.append(UInt8(ascii: "\""))
    case .apnsUniqueId: Self.append("\"apnsUniqueId\":", apnsUniqueID, to: &bytes)
    case .attempts: Self.append("\"attempts\":", attempts, to: &bytes)
    case .ms:
      Self.append("\"ms\":", to: &bytes)
      let tenths = nanoseconds / 100_000
      Self.append("", Int(tenths / 10), to: &bytes)
      bytes.append(UInt8(ascii: "."))
      bytes.append(0x30 + UInt8(tenths % 10))
    case .timestamp: Self.append("\"timestamp\":", timestamp.map { Int($0.milliseconds) }, to: &bytes)
    }
  }

  private func appendDevice(to bytes: inout [UInt8]) {
    guard let device else {
      return Self.append("", text, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\""))
    withUnsafeTemporaryAllocation(byteCount: 2 * device.bytes.count, alignment: 8) { digits in
      _ = Hex.write(device.bytes, into: digits, at: 0)
      bytes.append(contentsOf: digits)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func append(_ text: StaticString, to bytes: inout [UInt8]) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  private static func append(_ name: StaticString, _ number: Int?, to bytes: inout [UInt8]) {
    append(name, to: &bytes)
    guard let number else { return append("null", to: &bytes) }
    guard (0..<1000).contains(number) else { return bytes.append(contentsOf: String(number).utf8) }
    // Most are below a thousand; a text for each would be an object more.
    if number >= 100 { bytes.append(0x30 + UInt8(number / 100)) }
    if number >= 10 { bytes.append(0x30 + UInt8(number / 10 % 10)) }
    bytes.append(0x30 + UInt8(number % 10))
  }

  private static func append(_ name: StaticString, _ text: String?, to bytes: inout [UInt8]) {
    append(name, to: &bytes)
    guard let text else { return append("null", to: &bytes) }
    bytes.append(contentsOf: JSONValue.string(text).encoded)
  }
}
