// swift-tools-version: 6.1
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

func sdk(_ name: String) -> Target.Dependency { .product(name: name, package: "pabal") }

let package = Package(
  name: "TalentMarket",
  platforms: [.iOS(.v17), .macOS(.v14)],
  products: [.library(name: "TalentMarket", targets: ["TalentMarket"])],
  dependencies: [.package(name: "pabal", path: "../..")],
  targets: [
    .target(
      name: "TalentMarket",
      dependencies: [
        sdk("PabalKit"), sdk("PabalNotificationService"),
        .product(name: "PabalSimulation", package: "pabal", condition: .when(platforms: [.linux, .macOS])),
      ],
      swiftSettings: strict),
    .target(
      name: "TalentMarketStory",
      dependencies: ["TalentMarket", sdk("PabalKit"), sdk("PabalSimulation"), sdk("PabalPrimitives")],
      swiftSettings: strict),
    .executableTarget(
      name: "talent-market-demo", dependencies: ["TalentMarketStory"], swiftSettings: strict),
    .testTarget(
      name: "StoryTests",
      dependencies: [
        "TalentMarketStory", "TalentMarket", sdk("PabalKit"), sdk("PabalSimulation"), sdk("PabalPrimitives"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
