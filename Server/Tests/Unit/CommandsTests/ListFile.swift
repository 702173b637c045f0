import ArgumentParsing
import Commands
import PabalModel
import TestSupport

/// A list on the disk, for as long as this value lives.
final class ListFile {
  private let folder: TemporaryFolder
  let file: InputFile

  init(_ bytes: [UInt8], name: String = "list") throws {
    folder = try TemporaryFolder()
    try TestFiles.write(bytes, to: folder.file(name))
    file = try InputFile(folder.file(name), what: "The device list")
  }

  convenience init(_ text: String) throws {
    try self.init(Array(text.utf8))
  }

  func lines(_ format: DeviceListFormat, variables: [String] = []) throws -> [DeviceLine] {
    file.rewind()
    var reader = try DeviceLines(file, format: format, variables: variables)
    var lines: [DeviceLine] = []
    while let line = try reader.next() { lines.append(line) }
    return lines
  }
}

extension DeviceLine {
  var token: String? {
    guard case .device(let token, _) = content else { return nil }
    return token.hex
  }

  var details: LineDetails? {
    guard case .device(_, let details) = content else { return nil }
    return details
  }

  var values: [String?] { (details?.values ?? []).map { $0.map { String(decoding: $0, as: UTF8.self) } } }

  var fault: LineFault? {
    guard case .bad(let fault) = content else { return nil }
    return fault
  }
}
