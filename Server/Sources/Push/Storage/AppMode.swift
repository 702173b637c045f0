package import PabalModel

/// An app in one mode, as the small integer that leads every key of every table: rows of test and live never meet,
/// and a later split of the data by app needs no new keys. Given out by ``PushStorage/openApp(named:mode:)``.
package struct AppMode: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// - Parameter app: the app's number, 1 and up.
  package init(app: Int64, mode: PushMode) {
    rawValue = app << 1 | (mode == .live ? 1 : 0)
  }

  package var app: Int64 { rawValue >> 1 }
  package var mode: PushMode { rawValue & 1 == 1 ? .live : .test }
}
