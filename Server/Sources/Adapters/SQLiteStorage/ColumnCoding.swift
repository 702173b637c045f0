import PabalModel
import PabalPrimitives
import Storage

/// Whole numbers in 7-bit groups, least significant first.
enum Varint {
  static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Takes one number off the front; `nil` when it is cut or too long.
  static func take(from bytes: inout ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = bytes.popFirst() else { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }
}

/// The members of a mark: device numbers in ascending order, as differences.
enum MarkMembers {
  static func encode(_ devices: [DeviceNumber]) -> [UInt8] {
    var bytes: [UInt8] = []
    var last: Int64 = 0
    for device in devices.sorted() {
      Varint.append(UInt64(bitPattern: device.rawValue &- last), to: &bytes)
      last = device.rawValue
    }
    return bytes
  }

  static func decode(_ bytes: [UInt8]) throws -> [DeviceNumber] {
    var rest = bytes[...]
    var devices: [DeviceNumber] = []
    var last: Int64 = 0
    while !rest.isEmpty {
      guard let step = Varint.take(from: &rest) else { throw StorageError(.corrupt, "A mark cannot be read.") }
      last = last &+ Int64(bitPattern: step)
      devices.append(DeviceNumber(rawValue: last))
    }
    return devices
  }
}

extension OutgoingPush {
  private static let formatVersion: UInt8 = 1

  /// Version, priority, push type, collapse id (length + 1, 0 = none), payload.
  var encoded: [UInt8] {
    var bytes: [UInt8] = [Self.formatVersion]
    Varint.append(UInt64(clamping: priority), to: &bytes)
    Varint.append(UInt64(pushType.utf8.count), to: &bytes)
    bytes += pushType.utf8
    Varint.append(collapseID.map { UInt64($0.utf8.count) + 1 } ?? 0, to: &bytes)
    bytes += (collapseID ?? "").utf8
    return bytes + payload
  }

  init(decoding bytes: [UInt8]) throws {
    var rest = bytes[...]
    guard rest.popFirst() == Self.formatVersion, let priority = Varint.take(from: &rest),
      let typeCount = Varint.take(from: &rest), typeCount <= rest.count
    else { throw StorageError(.corrupt, "A stored push cannot be read.") }
    let type = rest.prefix(Int(typeCount))
    rest = rest.dropFirst(Int(typeCount))
    guard let collapseCount = Varint.take(from: &rest), collapseCount <= rest.count + 1 else {
      throw StorageError(.corrupt, "A stored push cannot be read.")
    }
    let collapse = collapseCount == 0 ? nil : rest.prefix(Int(collapseCount) - 1)
    rest = rest.dropFirst(collapse?.count ?? 0)
    self.init(
      payload: Array(rest), pushType: String(decoding: type, as: UTF8.self), priority: Int(clamping: priority),
      collapseID: collapse.map { String(decoding: $0, as: UTF8.self) })
  }
}

/// The steps of a trace as a JSON text.
enum StepsColumn {
  static func encode(_ steps: [TraceStep]) -> String {
    JSONValue.array(
      steps.map { step in
        [
          "t": .int(step.at.milliseconds), "s": .string(step.step.rawValue), "r": .string(step.result.rawValue),
          "d": step.detail,
        ]
      }
    ).encodedText
  }

  static func decode(_ text: String) throws -> [TraceStep] {
    let list = try JSONSlice(parsing: Array(text.utf8))
    return try list.elements.map { element in
      guard let time = element["t"]?.int, let name = element["s"]?.string, let step = PipelineStep(rawValue: name),
        let result = element["r"]?.string, let detail = element["d"]
      else { throw StorageError(.corrupt, "The steps of a trace cannot be read.") }
      return TraceStep(
        at: WallTime(milliseconds: Int64(time)), step: step, result: StepResult(rawValue: result),
        detail: detail.isNull ? .null : JSONValue(detail))
    }
  }
}

extension PushLifetime {
  /// Milliseconds since 1970, 0 for one attempt.
  var column: Int64 { end?.milliseconds ?? 0 }

  init(column: Int64) {
    self = column == 0 ? .attemptOnce : .until(WallTime(milliseconds: column))
  }
}

extension DeliveryState {
  /// The number in the database; never given another meaning.
  var column: Int64 {
    switch self {
    case .queued: 1
    case .held: 2
    case .sending: 3
    case .retrying: 4
    case .accepted: 10
    case .rejected: 11
    case .expired: 12
    case .unknown: 13
    case .suppressed: 14
    case .canceled: 15
    }
  }

  init(column: Int64) throws {
    guard let state = Self.allCases.first(where: { $0.column == column }) else {
      throw StorageError(.corrupt, "A delivery is in a state that this program does not know.")
    }
    self = state
  }
}
