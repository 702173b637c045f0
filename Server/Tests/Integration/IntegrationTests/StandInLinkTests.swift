import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// The device link over HTTP, read by curl as it comes.
@Suite struct StandInLinkTests {
  struct Event: Equatable {
    var name = ""
    var id: String?
    var data = ""

    var json: JSONSlice? {
      do { return try JSONSlice(parsing: Array(data.utf8)) } catch { return nil }
    }
  }

  /// A phone's open stream.
  final class Link {
    private let process: ChildProcess
    private var next = 0

    init(_ peer: StandInCurl, lastEventID: String? = nil) throws {
      let header = lastEventID.map { ["-H", "last-event-id: \($0)"] } ?? []
      let address = "\(peer.standIn.readyLine.control ?? "")/v1/simulator/devices/\(peer.device.id)/stream"
      process = try ChildProcess(
        "/usr/bin/curl", ["--silent", "--no-buffer"] + header + [address],
        environment: ["PATH": "/usr/bin:/bin", "HOME": "/"])
    }

    /// The next event; `nil` when the stream has ended.
    func event() async -> Event? {
      var event = Event()
      while let line = await process.line(next) {
        next += 1
        if line.isEmpty {
          if !event.name.isEmpty { return event }
        } else if line.hasPrefix("event: ") {
          event.name = String(line.dropFirst(7))
        } else if line.hasPrefix("id: ") {
          event.id = String(line.dropFirst(4))
        } else if line.hasPrefix("data: ") {
          event.data = String(line.dropFirst(6))
        }
      }
      return nil
    }

    func cut() { process.signal(9) }
  }

  @Test("ready, pushes as they come, replay after a cut, stored ones on return") func story() async throws {
    let peer = try await StandInCurl()
    let link = try Link(peer)
    let ready = try #require(await link.event())
    #expect(ready.name == "ready")
    #expect(ready.json?.members.map(\.name) == ["deviceId", "token", "environment", "topic"])
    #expect(ready.json?["deviceId"]?.string == peer.device.id)
    #expect(ready.json?["token"]?.string == Hex.encode(peer.device.token))

    let reply = try await peer.push(headers: StandInCurl.good + ["apns-collapse-id: c", "apns-expiration: 0"])
    let first = try #require(await link.event())
    #expect(first.name == "push")
    #expect(first.id == "in_1")
    #expect(
      first.json?.members.map(\.name) == [
        "apnsId", "apnsUniqueId", "topic", "pushType", "priority", "expiration", "collapseId", "receivedAt",
        "payloadBase64",
      ])
    #expect(first.json?["apnsId"]?.string == reply.headers["apns-id"])
    #expect(first.json?["expiration"]?.int == 0)
    #expect(first.json?["payloadBase64"]?.string == Base64.encode(Array(StandInCurl.payload.utf8)))
    _ = try await peer.push()
    #expect(await link.event()?.id == "in_2")

    // A phone that leaves in good order; what is sent meanwhile is stored.
    let left = try await peer.control("PATCH", "/devices/\(peer.device.id)", #"{"online":false}"#)
    #expect(left.json?["online"]?.bool == false)
    #expect(await link.event() == nil)
    #expect(try await peer.push(headers: StandInCurl.good + ["apns-expiration: 0"]).status == 200)
    #expect(try await peer.push().status == 200)

    let again = try Link(peer, lastEventID: "in_1")
    var ids: [String?] = []
    for _ in 0..<3 { ids.append(await again.event()?.id) }
    #expect(ids == [nil, "in_2", "in_4"])
    let inbox = try await peer.control("GET", "/inbox").json?["data"]?.elements.compactMap { $0["state"]?.string }
    #expect(inbox == ["displayed", "displayed", "expired", "displayed"])
    again.cut()
    await peer.standIn.stop()
  }

  @Test("a newer stream replaces the older, which is told and ends") func replaced() async throws {
    let peer = try await StandInCurl()
    let older = try Link(peer)
    #expect(await older.event()?.name == "ready")
    let newer = try Link(peer)
    #expect(await newer.event()?.name == "ready")
    let told = await older.event()
    #expect(told?.name == "replaced")
    #expect(told?.data == "{}")
    #expect(await older.event() == nil)
    _ = try await peer.push()
    #expect(await newer.event()?.id == "in_1")
    newer.cut()
    await peer.standIn.stop()
  }

  @Test("an uninstalled device's stream ends, its pushes are 410, and no stream opens") func uninstalled() async throws
  {
    let peer = try await StandInCurl()
    let link = try Link(peer)
    #expect(await link.event()?.name == "ready")
    _ = try await peer.control("PATCH", "/devices/\(peer.device.id)", #"{"state":"unregistered"}"#)
    #expect(await link.event() == nil)
    #expect(try await peer.push().status == 410)
    let refused = try await peer.control("GET", "/devices/\(peer.device.id)/stream")
    #expect(refused.status == 409)
    #expect(refused.json?["error"]?["code"]?.string == "device_unregistered")
    await peer.standIn.stop()
  }

  @Test("stop ends open streams") func stopping() async throws {
    let peer = try await StandInCurl()
    let link = try Link(peer)
    #expect(await link.event()?.name == "ready")
    await peer.standIn.stop()
    #expect(await link.event() == nil)
  }

  @Test("media files come as their bytes") func media() async throws {
    let peer = try await StandInCurl()
    for file in StandInMedia.allCases {
      let target = peer.folder.file(file.rawValue)
      let address = "\(peer.standIn.readyLine.control ?? "")/v1/simulator/media/\(file.rawValue)?delayMs=5"
      let result = try await StandInCurl.curl(["--silent", "--fail", "--output", target, address])
      #expect(result.code == 0)
      #expect(try TestFiles.read(target) == file.bytes)
    }
    await peer.standIn.stop()
  }
}
