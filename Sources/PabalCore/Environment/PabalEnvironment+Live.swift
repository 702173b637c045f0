internal import Foundation
internal import PabalModel
internal import PabalPrimitives

#if os(iOS)
internal import Security
#endif

extension PabalEnvironment {
  /// The device. Each call makes a network session of its own; a client keeps one for its whole life.
  public static func live() -> PabalEnvironment {
    PabalEnvironment(
      clock: .system, timers: .live, randomness: .system, http: .urlSession(), keychain: .live,
      application: { ApplicationFactsReader.read(Bundle.main) }, container: liveContainer,
      sharedContainer: { liveSharedContainer($0) })
  }

  private static var liveContainer: URL {
    URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("Library/Application Support/pabal")
  }

  private static func liveSharedContainer(_ appGroup: String) -> URL? {
    #if os(iOS)
    FileManager().containerURL(forSecurityApplicationGroupIdentifier: appGroup)
    #else
    nil
    #endif
  }
}

extension PabalTimers {
  static let live = PabalTimers { after, fire in
    // The handler holds the source and lets go when it has run, so that a timer nobody keeps still fires.
    let holder = Locked<(any DispatchSourceTimer)?>(nil)
    holder.withLock { slot in
      let source = DispatchSource.makeTimerSource(queue: .global())
      source.schedule(deadline: .now() + .nanoseconds(Int(after.nanosecondsClamped)))
      source.setEventHandler {
        holder.withLock { $0 = nil }
        fire()
      }
      slot = source
      source.resume()
    }
    return PabalTimer {
      holder.withLock {
        $0?.cancel()
        $0 = nil
      }
    }
  }
}

extension PabalKeychain {
  #if os(iOS)
  /// Readable from the first unlock on, and never moved to another device.
  static let live = PabalKeychain(
    read: { name throws(PabalKeychainError) in
      var found: CFTypeRef?
      let search = item(name).merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
      let status = SecItemCopyMatching(search as CFDictionary, &found)
      switch status {
      case errSecSuccess: return (found as? Data).map { Array($0) }
      case errSecItemNotFound: return nil
      case errSecInteractionNotAllowed: throw PabalKeychainError(.lockedYet, status: status)
      default: throw PabalKeychainError(.refused, status: status)
      }
    },
    write: { name, value throws(PabalKeychainError) in
      let content: [CFString: Any] = [
        kSecValueData: Data(value), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(item(name) as CFDictionary, content as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(item(name).merging(content) { $1 } as CFDictionary, nil)
      }
      if status == errSecInteractionNotAllowed { throw PabalKeychainError(.lockedYet, status: status) }
      if status != errSecSuccess { throw PabalKeychainError(.refused, status: status) }
    })

  private static func item(_ name: String) -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "pabal", kSecAttrAccount: name]
  }
  #else
  /// There is none here: whoever makes an environment for another system gives its own.
  static let live = PabalKeychain(
    read: { _ throws(PabalKeychainError) in throw PabalKeychainError(.refused) },
    write: { _, _ throws(PabalKeychainError) in throw PabalKeychainError(.refused) })
  #endif
}

enum ApplicationFactsReader {
  static func read(_ bundle: Bundle) -> PabalApplicationFacts {
    let version = ProcessInfo.processInfo.operatingSystemVersion
    let patch = version.patchVersion == 0 ? "" : ".\(version.patchVersion)"
    let extensions = embeddedExtensions(bundle)
    return PabalApplicationFacts(
      bundleID: bundle.bundleIdentifier ?? "",
      appVersion: bundle.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String ?? "",
      osVersion: "\(version.majorVersion).\(version.minorVersion)\(patch)", model: model(),
      locale: Locale.current.identifier.replacingOccurrences(of: "_", with: "-"),
      timeZone: TimeZone.current.identifier,
      hasServiceExtension: extensions.contains("com.apple.usernotifications.service"),
      hasContentExtension: extensions.contains("com.apple.usernotifications.content-extension"),
      apnsEnvironment: apnsEnvironment(bundle))
  }

  /// The extension points of the app's embedded extensions.
  private static func embeddedExtensions(_ bundle: Bundle) -> Set<String> {
    guard let folder = bundle.builtInPlugInsURL else { return [] }
    let names = FileManager().enumerator(
      at: folder, includingPropertiesForKeys: nil, options: [.skipsSubdirectoryDescendants])
    var points: Set<String> = []
    while let url = names?.nextObject() as? URL {
      let declaration = Bundle(url: url)?.object(forInfoDictionaryKey: "NSExtension") as? [String: Any]
      if let point = declaration?["NSExtensionPointIdentifier"] as? String { points.insert(point) }
    }
    return points
  }

  private static func apnsEnvironment(_ bundle: Bundle) -> String? {
    #if targetEnvironment(simulator)
    return "sandbox"
    #else
    guard let url = bundle.url(forResource: "embedded", withExtension: "mobileprovision") else { return "production" }
    do {
      return ProvisioningProfile.apnsEnvironment(in: Array(try Data(contentsOf: url)))?.rawValue
    } catch {
      return nil
    }
    #endif
  }

  private static func model() -> String {
    var system = utsname()
    guard uname(&system) == 0 else { return "" }
    return withUnsafeBytes(of: &system.machine) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
