package import ArgumentParsing
import PabalModel

package enum DeviceListFormat: String, Sendable, CaseIterable {
  /// One token a line; blank lines and lines that start with `#` are skipped.
  case tokens
  /// One object a line: `{"device":"…","variables":{…},"apnsId":"…","collapseId":"…"}`, all but `device` optional.
  case ndjson
  /// RFC 4180 in UTF-8 with a header line: the column `device`, all others are variables.
  case csv

  /// By the name's end; standard input holds tokens.
  package init(path: String) {
    let name = path.lowercased()
    if name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl") {
      self = .ndjson
    } else {
      self = name.hasSuffix(".csv") ? .csv : .tokens
    }
  }

  /// A token's digits with brackets and blanks; or an object or record with a payload's worth of variables.
  var lineBytes: Int {
    self == .tokens ? 2 * DeviceToken.maximumBytes + 1024 : 65_536
  }
}

/// The entries of a device list, whatever its format.
package struct DeviceLines: Sendable {
  private enum Entries: Sendable {
    case tokens
    case objects(ObjectLine)
    case records(CSVRecords)
  }

  private var lines: ByteLines
  private var entries: Entries

  /// - Parameters:
  ///   - variables: names that the payload asks for; what else a line gives is not kept.
  ///   - isStopped: asked while a stream has nothing to read.
  /// - Throws: `usage` for a file that cannot be read or a CSV header without the column `device`.
  package init(
    _ file: InputFile, format: DeviceListFormat, variables: [String], isStopped: (@Sendable () -> Bool)? = nil
  ) throws(UsageError) {
    lines = ByteLines(file, lineBytes: format.lineBytes, isStopped: isStopped)
    switch format {
    case .tokens: entries = .tokens
    case .ndjson: entries = .objects(ObjectLine(variables: variables))
    case .csv: entries = .records(try CSVRecords(header: &lines, path: file.path, variables: variables))
    }
  }

  /// Variables that no line of the list can give, since it has no such column.
  package var missingColumns: [String] {
    guard case .records(let records) = entries else { return [] }
    return records.missingColumns
  }

  /// Whether the next entry, or the end, is probably there without waiting.
  package var isReady: Bool { lines.isReady }

  /// The next entry that is not skipped; `nil` after the last.
  package mutating func next() throws(UsageError) -> DeviceLine? {
    switch entries {
    case .tokens: return try nextToken()
    case .objects(let object):
      guard let range = try lines.next() else { return nil }
      let isCut = lines.isCut
      return DeviceLine(number: lines.number, content: isCut ? .bad(.tooLong) : object.read(lines.copy(range)))
    case .records(let records):
      return try records.next(&lines)
    }
  }

  private mutating func nextToken() throws(UsageError) -> DeviceLine? {
    while let range = try lines.next() {
      if lines.isCut { return DeviceLine(number: lines.number, content: .bad(.tooLong)) }
      if let content = lines.bytes(range, Self.token) { return DeviceLine(number: lines.number, content: content) }
    }
    return nil
  }

  /// `nil` for a line to skip.
  private static func token(_ line: UnsafeBufferPointer<UInt8>) -> DeviceLine.Content? {
    let isEnded = line.last == UInt8(ascii: "\r")
    let line = isEnded ? UnsafeBufferPointer(rebasing: line.dropLast()) : line
    guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }), first != UInt8(ascii: "#") else { return nil }
    do throws(DeviceTokenError) {
      return .device(try TokenText.read(line), nil)
    } catch {
      return .bad(LineFault(error, text: String(decoding: line, as: UTF8.self)))
    }
  }
}

extension LineFault {
  static var tooLong: LineFault {
    LineFault(.lineInvalid, text: nil, message: "The line is too long for one device; is a line feed missing?")
  }
}
