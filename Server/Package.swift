// swift-tools-version: 6.2
import PackageDescription

// Everything that runs on a server or a laptop. Layers, top to bottom: Apps, Adapters, Push, Platform, Native.
// `scripts/check-imports` holds the table of who may import whom.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let primitives: Target.Dependency = .product(name: "PabalPrimitives", package: "pabal")
let model: Target.Dependency = .product(name: "PabalModel", package: "pabal")

// `PABAL_TESTS=HTTP2Tests,…` builds and runs only the named test targets.
let testsWanted = Context.environment["PABAL_TESTS"].map { Set($0.split(separator: ",").map(String.init)) }

func door(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/Native/\(name)", pkgConfig: pkgConfig,
    providers: [.apt([apt]), .brew([brew])])
}

func layer(_ folder: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", swiftSettings: strict)
}

func tests(_ folder: String, _ name: String, _ dependencies: [Target.Dependency]) -> [Target] {
  if let testsWanted, !testsWanted.contains(name) { return [] }
  return [
    .testTarget(
      name: name, dependencies: dependencies, path: "Tests/\(folder)/\(name)", swiftSettings: strict)
  ]
}

let native: [Target] = [
  door("CNghttp2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
  door("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
  door("CUV", pkgConfig: "libuv", apt: "libuv1-dev", brew: "libuv"),
  door("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
  door("CMicrohttpd", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),
]

let platform: [Target] = [
  layer("Platform", "Observability", [primitives]),
  layer("Platform", "EventLoop", ["CUV", primitives]),
  layer("Platform", "Cryptography", ["COpenSSL", primitives]),
  layer("Platform", "TLS", ["COpenSSL", primitives]),
  layer("Platform", "HTTP2", ["CNghttp2", primitives]),
  layer("Platform", "HTTP2Connections", ["EventLoop", "TLS", "HTTP2", "Observability", primitives]),
  layer("Platform", "HTTPServer", ["CMicrohttpd", "Observability", primitives]),
  layer("Platform", "SQLiteDriver", ["CSQLite", primitives]),
  layer("Platform", "ArgumentParsing", [primitives]),
]

let push: [Target] = [
  layer("Push", "APNs", ["Cryptography", model, primitives]),
  layer("Push", "Delivery", [model, primitives]),
  layer("Push", "Storage", [model, primitives]),
]

let adapters: [Target] = [
  layer(
    "Adapters", "ProviderTransport",
    ["APNs", "Delivery", "HTTP2Connections", "EventLoop", "TLS", "HTTP2", "Observability", model, primitives]),
  layer(
    "Adapters", "SQLiteStorage",
    ["Storage", "SQLiteDriver", "Cryptography", "Observability", model, primitives]),
  layer(
    "Adapters", "ServerAPI",
    ["APNs", "Delivery", "Storage", "HTTPServer", "Cryptography", "Observability", model, primitives]),
  layer(
    "Adapters", "Simulator",
    ["HTTP2Connections", "EventLoop", "TLS", "HTTP2", "HTTPServer", "Cryptography", "Observability", primitives]),
]

let everything: [Target.Dependency] =
  (platform + push + adapters).map { .target(name: $0.name) } + [model, primitives]

let apps: [Target] = [
  layer("Apps", "PabalServer", everything),
  layer("Apps", "Commands", everything + ["PabalServer"]),
  .executableTarget(name: "pabal", dependencies: ["Commands"], path: "Sources/Apps/pabal", swiftSettings: strict),
]

// What reads bytes of strangers; `scripts/fuzz` and the replay of its corpora share it.
var fuzz: [Target] = [
  .target(
    name: "FuzzTargets",
    dependencies: ["APNs", "Cryptography", "HTTP2", "HTTPServer", "Simulator", model, primitives], path: "Fuzz",
    exclude: ["Runner"], swiftSettings: strict)
]
// It has no `main` of its own, libFuzzer brings one: an ordinary build could not link it.
if Context.environment["PABAL_FUZZ"] != nil {
  fuzz.append(
    .executableTarget(
      name: "FuzzRunner", dependencies: ["FuzzTargets"], path: "Fuzz/Runner", swiftSettings: strict))
}

let testKit: [Target] = [
  layer("TestKit", "TestSupport", ["EventLoop", "Cryptography", "HTTP2Connections", "TLS", "HTTP2", model, primitives]),
  layer("TestKit", "StorageConformance", ["Storage", model, primitives]),
  // A server that a test kills; also one with a planted mistake.
  .executableTarget(
    name: "ServerUnderTest",
    dependencies: ["PabalServer", "Storage", "StorageConformance", model, primitives],
    path: "Sources/TestKit/ServerUnderTest", swiftSettings: strict),
]

let unitTests: [[Target]] = (platform + push + adapters + apps.dropLast()).map { target in
  tests("Unit", target.name + "Tests", target.dependencies + [.target(name: target.name), "TestSupport"])
}

let wideTests: [[Target]] = [
  tests("Conformance", "StorageConformanceTests", everything + ["StorageConformance", "TestSupport"]),
  tests(
    "Integration", "IntegrationTests",
    everything + ["PabalServer", "Commands", "StorageConformance", "TestSupport"]),
  tests("Simulation", "SimulationTests", everything + ["TestSupport"]),
  tests("Unit", "FuzzTargetsTests", ["FuzzTargets", "TestSupport"]),
]

let package = Package(
  name: "pabal-server",
  platforms: [.macOS(.v14)],
  products: [.executable(name: "pabal", targets: ["pabal"])],
  dependencies: [.package(name: "pabal", path: "..")],
  targets: native + platform + push + adapters + apps + fuzz + testKit
    + (unitTests + wideTests).flatMap { $0 },
  swiftLanguageModes: [.v6]
)
