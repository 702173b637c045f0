internal import PabalPrimitives

/// A push that only says that what the app draws outside of itself is out of date.
package protocol APNsReload: APNsNotification {}

extension APNsReload {
  package var collapseID: String? { nil }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    try .joining(aps: ["content-changed": true], custom: [], for: Self.pushType)
  }
}

/// Has WidgetKit reload the app's widgets.
package struct APNsWidgetsReload: APNsReload {
  package static let pushType = APNsPushType.widgets

  package var priority: APNsPriority
  package var expiration: APNsExpiration?

  package init(priority: APNsPriority = .immediate, expiration: APNsExpiration? = nil) {
    self.priority = priority
    self.expiration = expiration
  }
}

/// Has Control Center reload the app's controls.
package struct APNsControlsReload: APNsReload {
  package static let pushType = APNsPushType.controls

  package var priority: APNsPriority
  package var expiration: APNsExpiration?

  package init(priority: APNsPriority = .immediate, expiration: APNsExpiration? = nil) {
    self.priority = priority
    self.expiration = expiration
  }
}
