internal import Foundation
package import PabalPrimitives

/// What the SDK asks of a file system, one closure an operation, so that a test can fail or count each of them.
///
/// Paths are absolute. Every operation is finished when it returns; `write` and `append` have reached the disk
/// (`fsync`), but a new name in a folder is durable only after `syncDirectory` of that folder.
package struct DurableFiles: Sendable {
  /// Makes the folder and those above it; no error when it exists.
  package var makeDirectory: @Sendable (_ path: String) throws(DurableFileError) -> Void
  /// Names in a folder, sorted; empty when the folder is absent.
  package var list: @Sendable (_ folder: String) throws(DurableFileError) -> [String]
  /// `nil` when the file is absent. A file that exists and cannot be read is an error, never `nil`.
  package var read: @Sendable (_ path: String) throws(DurableFileError) -> [UInt8]?
  /// Makes a new file; an existing one is an error.
  package var write: @Sendable (_ path: String, _ bytes: [UInt8]) throws(DurableFileError) -> Void
  /// Adds to a file, which is made when absent.
  package var append: @Sendable (_ path: String, _ bytes: [UInt8]) throws(DurableFileError) -> Void
  /// Replaces the file of the new name, if any, in one step.
  package var rename: @Sendable (_ from: String, _ to: String) throws(DurableFileError) -> Void
  /// No error when the file is absent.
  package var remove: @Sendable (_ path: String) throws(DurableFileError) -> Void
  package var syncDirectory: @Sendable (_ path: String) throws(DurableFileError) -> Void

  package init(
    makeDirectory: @escaping @Sendable (String) throws(DurableFileError) -> Void,
    list: @escaping @Sendable (String) throws(DurableFileError) -> [String],
    read: @escaping @Sendable (String) throws(DurableFileError) -> [UInt8]?,
    write: @escaping @Sendable (String, [UInt8]) throws(DurableFileError) -> Void,
    append: @escaping @Sendable (String, [UInt8]) throws(DurableFileError) -> Void,
    rename: @escaping @Sendable (String, String) throws(DurableFileError) -> Void,
    remove: @escaping @Sendable (String) throws(DurableFileError) -> Void,
    syncDirectory: @escaping @Sendable (String) throws(DurableFileError) -> Void
  ) {
    self.makeDirectory = makeDirectory
    self.list = list
    self.read = read
    self.write = write
    self.append = append
    self.rename = rename
    self.remove = remove
    self.syncDirectory = syncDirectory
  }

  /// Gives `folder/name` the new bytes: after a crash it holds the old ones or these, never a mixture.
  package func replace(_ name: String, in folder: String, with bytes: [UInt8]) throws(DurableFileError) {
    let temporary = "\(folder)/.\(name).tmp"
    try makeDirectory(folder)
    try remove(temporary)
    try write(temporary, bytes)
    try rename(temporary, "\(folder)/\(name)")
    try syncDirectory(folder)
  }
}

/// A file operation that failed. Holds the operation and the system's number, no path and no content.
package struct DurableFileError: CodedError {
  package let operation: String
  package let number: Int32
  package let place: Place

  package init(_ operation: String, number: Int32, file: String = #fileID, line: Int = #line) {
    self.operation = operation
    self.number = number
    self.place = Place(file: file, line: line)
  }

  package var code: String { "file_\(operation)_failed" }

  package var message: String {
    "The system refused to \(operation) a file of the SDK: \(String(cString: strerror(number))). "
      + "Check free space, and that the device was unlocked once since it started."
  }
}
