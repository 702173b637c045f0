/// Bounds of what one call may carry; a store refuses more with `store_call_invalid`.
package enum StorageLimits {
  /// A transaction with more rows would hold the only writer too long.
  package static let outcomesPerCommit = 1_000
  /// As the SDK's upload.
  package static let eventsPerCall = 500
  /// Users named in one message; more is an audience.
  package static let usersPerMessage = 1_000
  /// Bytes of a user id: it leads an index and stands in a path.
  package static let userIDBytes = 255
  package static let rowsPerPage = 1_000
}
