import Foundation

/// `PABAL_BIN`, or where `make build` puts it.
let pabal: String = {
  if let path = ProcessInfo.processInfo.environment["PABAL_BIN"] { return path }
  let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  return package.appendingPathComponent("../../bin/pabal").standardizedFileURL.path
}()
