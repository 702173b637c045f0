/// Which of APNs' two services a personality plays. Each refuses the other's device tokens.
package enum StandInEnvironment: String, Sendable, Hashable, CaseIterable {
  case sandbox
  case production
}
