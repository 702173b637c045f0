internal import PabalPrimitives

/// Has WidgetKit reload the app's widgets.
package struct APNsWidgetsReload: APNsNotification {
  package static let pushType = APNsPushType.widgets

  package var priority: APNsPriority
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(priority: APNsPriority = .immediate, expiration: APNsExpiration? = nil) {
    self.priority = priority
    self.expiration = expiration
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    try .joining(aps: ["content-changed": true], custom: [], for: Self.pushType)
  }
}

/// Has Control Center reload the app's controls.
package struct APNsControlsReload: APNsNotification {
  package static let pushType = APNsPushType.controls

  package var priority: APNsPriority
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(priority: APNsPriority = .immediate, expiration: APNsExpiration? = nil) {
    self.priority = priority
    self.expiration = expiration
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    try .joining(aps: ["content-changed": true], custom: [], for: Self.pushType)
  }
}
