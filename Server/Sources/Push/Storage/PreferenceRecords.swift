package import PabalModel
package import PabalPrimitives

/// What a user has switched on or off. A category that is missing has never been set: its default counts.
package struct PreferenceSet: Hashable, Sendable {
  package struct Setting: Hashable, Sendable {
    package var isOn: Bool
    package var setAt: WallTime

    package init(isOn: Bool, setAt: WallTime) {
      self.isOn = isOn
      self.setAt = setAt
    }
  }

  /// By category name.
  package var settings: [String: Setting]

  package init(settings: [String: Setting] = [:]) {
    self.settings = settings
  }

  /// nil: never set.
  package subscript(_ category: String) -> Setting? { settings[category] }
}

/// Absent categories stay as they are.
package struct PreferenceChange: Sendable {
  package var appMode: AppMode
  package var user: UserID
  package var values: [String: Bool]
  package var at: WallTime

  package init(appMode: AppMode, user: UserID, values: [String: Bool], at: WallTime) {
    self.appMode = appMode
    self.user = user
    self.values = values
    self.at = at
  }
}
