package import PabalModel
import PabalPrimitives

/// One page of a list: what comes after the last member of the page before.
///
/// Positions are members' ids, so a page stays where it is when something is added to the list. An id that is not in
/// the list begins nowhere: its page is empty.
package struct ListPage<ID: Sendable>: Sendable {
  /// `nil`: the first page.
  package var after: ID?
  package var limit: Int

  package init(after: ID? = nil, limit: Int) {
    self.after = after
    self.limit = limit
  }

  /// All of it: for lists that are short by nature.
  package static var whole: ListPage { ListPage(limit: .max) }
}

extension PushStorage {
  package func deliveries(of message: MessageID, in appMode: AppMode) async throws(StorageError) -> [DeliveryRecord] {
    try await deliveries(of: message, to: nil, in: appMode, page: .whole)
  }

  package func deliveries(
    to user: UserID, in appMode: AppMode, limit: Int
  ) async throws(StorageError) -> [DeliveryRecord] {
    try await deliveries(to: user, in: appMode, page: ListPage(limit: limit))
  }

  package func messages(
    to user: UserID, in appMode: AppMode, limit: Int
  ) async throws(StorageError) -> [MessageSummary] {
    try await messages(to: user, in: appMode, page: ListPage(limit: limit))
  }
}
