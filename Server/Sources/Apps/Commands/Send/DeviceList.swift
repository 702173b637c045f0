import ArgumentParsing
import PabalModel
import PabalPrimitives

/// `--device` and `--devices-file`: whom a run goes to, looked through before the first push where that is possible.
struct DeviceList: Sendable {
  enum Source: Sendable {
    case listed([DeviceLine])
    /// Its lines were read once.
    case file(InputFile, DeviceListFormat)
    /// Cannot be read twice.
    case stream(InputFile, DeviceListFormat)
  }

  let source: Source
  /// Entries, bad ones included; `nil` for a stream.
  let count: Int?
  /// The last entry's line; `nil` for a stream.
  let lastLine: Int?
  /// Entries whose token was there before; `nil` when nobody counted.
  let duplicates: Int?
  /// A repeated token is left out.
  let isUnique: Bool

  var isSingle: Bool { count == 1 }

  /// How messages call it.
  var name: String {
    switch source {
    case .listed: "on the command line"
    case .file(let file, _), .stream(let file, _): file.path
    }
  }

  /// Bad lines shown at most.
  private static let shownLines = 10

  /// The format of `--devices-file`; `nil` without one.
  static func format(_ command: ParsedCommand) throws(UsageError) -> DeviceListFormat? {
    let format = try command.choice(SendOptions.format, of: DeviceListFormat.self)
    guard let path = command.value(SendOptions.devicesFile) else {
      guard format == nil else { throw UsageError("--format goes with --devices-file.") }
      return nil
    }
    guard path != "-" || command.value(SendOptions.payload) != "-" else {
      throw UsageError("Standard input cannot be the list and the payload. Put one of them into a file.")
    }
    return format ?? DeviceListFormat(path: path)
  }

  /// - Parameter variables: the names that the payload asks for.
  /// - Returns: the list, and warnings about it.
  static func read(
    _ command: ParsedCommand, variables: [String]
  ) throws(UsageError) -> (DeviceList, [String]) {
    if command.isSet(SendOptions.unique), command.isSet(SendOptions.noDuplicateCheck) {
      throw UsageError("--unique has to look for repeated tokens. Leave --no-duplicate-check out.")
    }
    let listed = command.list(SendOptions.device)
    guard let path = command.value(SendOptions.devicesFile), let format = try format(command) else {
      guard !listed.isEmpty else {
        throw UsageError("Whom to send to is missing. Give --device TOKEN, or --devices-file FILE with one a line.")
      }
      return try fromFlags(listed, command)
    }
    guard listed.isEmpty else { throw UsageError("Give --device or --devices-file, not both.") }
    let file = try InputFile(path, what: "The device list")
    guard file.isRegular else { return (try stream(file, format, command), []) }
    return try firstPass(file, format, command, variables)
  }

  private static func fromFlags(
    _ texts: [String], _ command: ParsedCommand
  ) throws(UsageError) -> (DeviceList, [String]) {
    var lines: [DeviceLine] = []
    var seen: Set<DeviceToken> = []
    var duplicates = 0
    for (index, text) in texts.enumerated() {
      do throws(DeviceTokenError) {
        let token = try TokenText.read(text)
        if !seen.insert(token).inserted { duplicates += 1 }
        lines.append(DeviceLine(number: index + 1, content: .device(token, nil)))
      } catch {
        guard command.isSet(SendOptions.skipInvalid) else {
          throw UsageError("Device \(index + 1) of \(texts.count): \(error.message)", code: error.code)
        }
        lines.append(DeviceLine(number: index + 1, content: .bad(LineFault(error, text: text))))
      }
    }
    let counts = !command.isSet(SendOptions.noDuplicateCheck)
    let isUnique = command.isSet(SendOptions.unique)
    let list = DeviceList(
      source: .listed(lines), count: lines.count, lastLine: lines.count, duplicates: counts ? duplicates : nil,
      isUnique: isUnique)
    return (list, list.warnings)
  }

  private static func stream(
    _ file: InputFile, _ format: DeviceListFormat, _ command: ParsedCommand
  ) throws(UsageError) -> DeviceList {
    guard !command.isSet(SendOptions.unique) else {
      throw UsageError(
        "--unique has to know the whole list, and \(file.path) can be read once only. Use `sort -u` in front.")
    }
    guard !command.isSet(SendOptions.resume) else {
      throw UsageError("--resume needs a list that can be read again, not \(file.path). Put it into a file.")
    }
    return DeviceList(source: .stream(file, format), count: nil, lastLine: nil, duplicates: nil, isUnique: false)
  }

  /// Reads the list to its end; one bad line refuses all of it, so that nothing is sent to half of it.
  private static func firstPass(
    _ file: InputFile, _ format: DeviceListFormat, _ command: ParsedCommand, _ variables: [String]
  ) throws(UsageError) -> (DeviceList, [String]) {
    let isUnique = command.isSet(SendOptions.unique)
    var seen = try fingerprints(file, isUnique: isUnique, counts: !command.isSet(SendOptions.noDuplicateCheck))
    var lines = try DeviceLines(file, format: format, variables: variables)
    var pass = FirstPass()
    while let line = try lines.next() { pass.note(line, &seen) }
    file.rewind()
    guard pass.bad == 0 || command.isSet(SendOptions.skipInvalid) else { throw pass.refusal(of: file.path) }
    guard pass.count > 0 else {
      throw UsageError("The device list \(file.path) holds no tokens: put one on each line. Nothing was sent.")
    }
    let list = DeviceList(
      source: .file(file, format), count: pass.count, lastLine: pass.lastLine,
      duplicates: seen == nil ? nil : pass.duplicates, isUnique: isUnique)
    let missing = lines.missingColumns.map { "the payload asks for {\($0)}, and the list has no such column" }
    return (list, list.warnings + missing)
  }

  /// An empty table that is large enough for the list; `nil` when repeats are not counted.
  private static func fingerprints(
    _ file: InputFile, isUnique: Bool, counts: Bool
  ) throws(UsageError) -> TokenFingerprints? {
    guard counts else { return nil }
    let lines = try file.lineCount()
    guard lines <= TokenFingerprints.maximumTokens else {
      guard !isUnique else {
        throw UsageError(
          "--unique works up to \(TokenFingerprints.maximumTokens) lines; \(file.path) has \(lines). "
            + "Use `sort -u` on it first.")
      }
      return nil
    }
    return TokenFingerprints(count: lines)
  }

  private var warnings: [String] {
    guard let duplicates, duplicates > 0, !isUnique else { return [] }
    let what = duplicates == 1 ? "1 line repeats a token" : "\(duplicates) lines repeat a token"
    return ["\(what) of the list, and each is sent. --unique sends to each token once."]
  }

  private struct FirstPass {
    var count = 0
    var bad = 0
    var duplicates = 0
    var lastLine = 0
    private var firstBad: [Int] = []
    private var firstFault: LineFault?

    mutating func note(_ line: DeviceLine, _ seen: inout TokenFingerprints?) {
      count += 1
      lastLine = line.number
      switch line.content {
      case .device(let token, _):
        if seen?.insert(token.bytes) == false { duplicates += 1 }
      case .bad(let fault):
        bad += 1
        if firstBad.count < DeviceList.shownLines { firstBad.append(line.number) }
        if firstFault == nil { firstFault = fault }
      }
    }

    func refusal(of path: String) -> UsageError {
      let numbers = firstBad.map(String.init).joined(separator: ", ") + (bad > firstBad.count ? ", …" : "")
      return UsageError(
        "\(bad) \(bad == 1 ? "line" : "lines") of \(path) cannot be used: \(numbers). Nothing was sent. "
          + "The first: \(firstFault?.message ?? "") Correct or remove them, or give --skip-invalid.",
        code: firstFault?.reason.rawValue ?? "usage")
    }
  }
}

extension InputFile {
  /// Line feeds, and one for a last line without; from the start of the file, and back there.
  func lineCount() throws(UsageError) -> Int {
    var chunk = [UInt8](repeating: 0, count: 4 * ByteLines.chunkBytes)
    var feeds = 0
    rewind()
    while true {
      let count = try read(into: &chunk, from: 0)
      guard count > 0 else { break }
      feeds += chunk.withUnsafeBufferPointer { bytes in
        var found = 0
        for index in 0..<count where bytes[index] == 0x0A { found += 1 }
        return found
      }
    }
    rewind()
    return feeds + 1
  }
}
