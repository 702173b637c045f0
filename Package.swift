// swift-tools-version: 6.1
import PackageDescription

// The SDK and nothing else: what an app adds. The server is the nested package in `Server/`.
// docs/decisions/0001-two-packages.md says why.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Apple's modules on iOS; look-alikes elsewhere. See docs/decisions/0001-two-packages.md.
let offDevice: TargetDependencyCondition? = .when(platforms: [.linux, .macOS])

// `PABAL_TESTS=PabalCoreTests,…` builds and runs only the named test targets.
let testsWanted = Context.environment["PABAL_TESTS"].map { Set($0.split(separator: ",").map(String.init)) }

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> [Target] {
  if let testsWanted, !testsWanted.contains(name) { return [] }
  return [.testTarget(name: name, dependencies: dependencies, swiftSettings: strict)]
}

let package = Package(
  name: "pabal",
  defaultLocalization: "en",
  platforms: [.iOS(.v17), .macOS(.v14)],
  products: [
    .library(name: "PabalKit", targets: ["PabalKit"]),
    .library(name: "PabalNotificationService", targets: ["PabalNotificationService"]),
    .library(name: "PabalModel", targets: ["PabalModel"]),
    .library(name: "PabalPrimitives", targets: ["PabalPrimitives"]),
    .library(
      name: "PabalSimulation",
      targets: ["PabalSimulation", "PabalSimUserNotifications", "PabalSimUIKit"]),
  ],
  targets: [
    library("PabalPrimitives"),
    library("PabalModel", ["PabalPrimitives"]),
    library("PabalCore", ["PabalMailbox", "PabalModel", "PabalPrimitives"]),
    library("PabalMailbox", ["PabalPrimitives"]),
    library(
      "PabalKit",
      [
        "PabalCore", "PabalMailbox", "PabalModel", "PabalPrimitives",
        .target(name: "PabalSimUserNotifications", condition: offDevice),
        .target(name: "PabalSimUIKit", condition: offDevice),
      ]),
    library(
      "PabalNotificationService",
      [
        "PabalCore", "PabalMailbox", "PabalModel", "PabalPrimitives",
        .target(name: "PabalSimUserNotifications", condition: offDevice),
      ]),
    library("PabalSimUserNotifications", ["PabalPrimitives"]),
    library("PabalSimUIKit", ["PabalPrimitives", "PabalSimUserNotifications"]),
    library("PabalSimulation", ["PabalSimUserNotifications", "PabalSimUIKit", "PabalPrimitives"]),
  ]
    + tests("PabalPrimitivesTests", ["PabalPrimitives"])
    + tests("PabalModelTests", ["PabalModel", "PabalPrimitives"])
    + tests("PabalCoreTests", ["PabalCore", "PabalMailbox", "PabalModel", "PabalPrimitives"])
    + tests("PabalMailboxTests", ["PabalMailbox", "PabalPrimitives"])
    + tests(
      "PabalKitTests",
      [
        "PabalKit", "PabalCore", "PabalMailbox", "PabalModel", "PabalPrimitives", "PabalSimulation",
        "PabalSimUserNotifications", "PabalSimUIKit",
      ])
    + tests(
      "PabalNotificationServiceTests",
      [
        "PabalNotificationService", "PabalCore", "PabalMailbox", "PabalModel", "PabalPrimitives", "PabalSimulation",
        "PabalSimUserNotifications",
      ])
    + tests(
      "PabalSimulationTests",
      ["PabalSimulation", "PabalPrimitives", "PabalSimUserNotifications", "PabalSimUIKit"]),
  swiftLanguageModes: [.v6]
)
