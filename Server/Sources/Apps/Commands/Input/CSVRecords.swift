import ArgumentParsing
import PabalModel
import PabalPrimitives

/// The records of a CSV file (RFC 4180, UTF-8) after its header: the column `device` and the variables.
struct CSVRecords: Sendable {
  /// A record may go over several lines inside quotes, but not for ever.
  private static let recordBytes = DeviceListFormat.csv.lineBytes

  private let columns: Int
  private let device: Int
  /// The column of each variable that is asked for.
  private let variables: [Int?]
  /// Variables without a column.
  let missingColumns: [String]

  /// Reads the header line.
  ///
  /// - Throws: `usage` when it is missing, malformed, or has no column `device`.
  init(header lines: inout ByteLines, path: String, variables: [String]) throws(UsageError) {
    guard let range = try lines.next(), let fields = CSVFields.split(Self.line(lines.copy(range))).complete else {
      throw UsageError("\(path) has no CSV header line. Its first line names the columns, one of them device.")
    }
    let names = fields.compactMap { String(validating: $0, as: UTF8.self) }
    guard names.count == fields.count else {
      throw UsageError("The header of \(path) is not UTF-8. Save the file as UTF-8.")
    }
    guard let device = names.firstIndex(of: "device") else {
      let hint = names.count == 1 && names[0].contains(";") ? " Separate the columns by commas." : ""
      throw UsageError(
        "\(path) has no column device; its header names \(names.joined(separator: ", ")).\(hint) "
          + "Call the column of the tokens device.")
    }
    if let twice = names.indices.first(where: { names[..<$0].contains(names[$0]) }) {
      throw UsageError("\(path) has the column \(names[twice]) twice. Give each column a name of its own.")
    }
    columns = names.count
    self.device = device
    self.variables = variables.map { names.firstIndex(of: $0) }
    missingColumns = variables.filter { !names.contains($0) }
  }

  func next(_ lines: inout ByteLines) throws(UsageError) -> DeviceLine? {
    guard let range = try lines.next() else { return nil }
    let number = lines.number
    guard !lines.isCut else { return DeviceLine(number: number, content: .bad(.tooLong)) }
    var record = lines.copy(range)
    while true {
      switch CSVFields.split(Self.line(record)) {
      case .complete(let fields): return DeviceLine(number: number, content: content(fields))
      case .malformed(let message): return DeviceLine(number: number, content: .bad(Self.fault(message)))
      case .open:
        guard let range = try lines.next() else {
          return DeviceLine(number: number, content: .bad(Self.fault("A quote is opened and never closed.")))
        }
        record.append(UInt8(ascii: "\n"))
        record += lines.copy(range)
        guard record.count <= Self.recordBytes, !lines.isCut else {
          return DeviceLine(number: number, content: .bad(Self.fault("A quote is opened and not closed in time.")))
        }
      }
    }
  }

  private func content(_ fields: [[UInt8]]) -> DeviceLine.Content {
    guard fields.count == columns else {
      return .bad(Self.fault("The line has \(fields.count) columns, the header \(columns)."))
    }
    let token: DeviceToken
    do {
      token = try fields[device].withUnsafeBufferPointer { (bytes) throws(DeviceTokenError) in
        try TokenText.read(bytes)
      }
    } catch {
      return .bad(LineFault(error, text: String(decoding: fields[device], as: UTF8.self)))
    }
    guard !variables.isEmpty else { return .device(token, nil) }
    var values: [[UInt8]?] = []
    for column in variables {
      guard let column else {
        values.append(nil)
        continue
      }
      guard let value = Self.quoted(fields[column]) else {
        return .bad(
          LineFault(.lineInvalid, text: token.hex, message: "The line is not valid UTF-8; save the file as UTF-8."))
      }
      values.append(value)
    }
    return .device(token, LineDetails(values: values))
  }

  /// Without the carriage return of a line's end.
  private static func line(_ bytes: [UInt8]) -> [UInt8] {
    bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
  }

  private static func fault(_ message: String) -> LineFault {
    LineFault(.lineInvalid, text: nil, message: message)
  }

  /// A field as a JSON string; `nil` unless it is UTF-8.
  private static func quoted(_ field: [UInt8]) -> [UInt8]? {
    String(validating: field, as: UTF8.self).map { JSONValue.string($0).encoded }
  }
}

/// The fields of one CSV record.
package enum CSVFields: Equatable, Sendable {
  case complete([[UInt8]])
  /// The record goes on in the next line: a quote is open.
  case open
  case malformed(String)

  /// - Parameter record: without the line end.
  package static func split(_ record: [UInt8]) -> CSVFields {
    var fields: [[UInt8]] = []
    var position = 0
    while true {
      var field: [UInt8] = []
      if position < record.count, record[position] == quote {
        position += 1
        while true {
          guard position < record.count else { return .open }
          let byte = record[position]
          position += 1
          guard byte == quote else {
            field.append(byte)
            continue
          }
          guard position < record.count, record[position] == quote else { break }
          field.append(quote)
          position += 1
        }
        guard position == record.count || record[position] == comma else {
          return .malformed("After a closing quote comes a comma or the line's end.")
        }
      } else {
        while position < record.count, record[position] != comma {
          guard record[position] != quote else {
            return .malformed("A quote inside a field that is not quoted: write \"…\" around it and \"\" for each.")
          }
          field.append(record[position])
          position += 1
        }
      }
      fields.append(field)
      guard position < record.count else { return .complete(fields) }
      position += 1
    }
  }

  var complete: [[UInt8]]? {
    guard case .complete(let fields) = self else { return nil }
    return fields
  }

  private static let quote = UInt8(ascii: "\"")
  private static let comma = UInt8(ascii: ",")
}
