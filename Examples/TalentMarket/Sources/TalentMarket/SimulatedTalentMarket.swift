#if !os(iOS)
import Foundation
public import PabalKit
import PabalPrimitives
public import PabalSimulation

extension PabalEnvironment {
  /// A simulated phone as the SDK sees it: the phone's time and folders, a real network, a keychain in memory.
  ///
  /// - Parameter keychain: outlives the app's processes, so the caller keeps it.
  /// - Parameter hasServiceExtension: what the app reports about itself.
  public static func simulated(
    on phone: SimulatedPhone, keychain: SimulatedKeychain, hasServiceExtension: Bool, http: HTTPClient = .urlSession()
  ) -> PabalEnvironment {
    let clock = phone.clock
    let work = phone.work
    let files = phone.files
    let bundleID = phone.app.bundleID
    return PabalEnvironment(
      clock: clock.clock,
      timers: PabalTimers { delay, fire in
        let id = clock.schedule(after: delay, fire)
        return PabalTimer { clock.cancel(id) }
      },
      randomness: .system, http: http, keychain: keychain.seam,
      application: {
        PabalApplicationFacts(
          bundleID: bundleID, appVersion: "1.0", osVersion: "17.4", model: "iPhone15,4", locale: "ko-KR",
          timeZone: "Asia/Seoul", hasServiceExtension: hasServiceExtension, hasContentExtension: false)
      },
      container: files.appendingPathComponent("app", isDirectory: true),
      sharedContainer: { files.appendingPathComponent("groups/\($0)", isDirectory: true) },
      activity: PabalActivity {
        let ticket = work.begin("the SDK")
        return { work.end(ticket) }
      })
  }
}

/// A keychain that lives as long as the phone.
public final class SimulatedKeychain: Sendable {
  private let items = Locked<[String: [UInt8]]>([:])

  public init() {}

  var seam: PabalKeychain {
    PabalKeychain(
      read: { [items] name in items.withLock { $0[name] } },
      write: { [items] name, value in items.withLock { $0[name] = value } })
  }
}
#endif
