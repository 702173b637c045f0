import Foundation
import PabalCore
import PabalMailbox
import PabalNotificationService
import PabalPrimitives
import PabalSimUserNotifications
import PabalSimulation
import Testing

@Suite(.timeLimit(.minutes(1))) struct ServiceExtensionTests {
  private static let identity: [String: String] = ["m": "msg_1", "d": "dlv_1"]

  @Test func `the receipt is written, also without a picture`() async throws {
    let bench = ExtensionBench()
    bench.receive(["pabal": Self.identity])
    #expect(bench.shown.map(\.title) == ["제목"])
    let receipt = try #require(try bench.receipts.first)
    #expect(receipt.deliveryID == "dlv_1")
    #expect(receipt.messageID == "msg_1")
    #expect(receipt.receivedAt == WallTime(milliseconds: 1_800_000_000_000))
    #expect(bench.requested.isEmpty)
  }

  @Test func `the receipt is there while the picture is still on its way`() async throws {
    let bench = ExtensionBench { _ in try await never() }
    bench.receive(["pabal": Self.identity, "image": "https://cdn.example.com/a.png"])
    #expect(try bench.receipts.count == 1)
    #expect(bench.shown.isEmpty)
    bench.clock.advance(by: .seconds(25))
    #expect(bench.shown.count == 1)
  }

  @Test func `a push that is not ours leaves no receipt`() throws {
    let bench = ExtensionBench()
    bench.receive(["type": "other"])
    #expect(bench.shown.count == 1)
    #expect(try bench.receipts.isEmpty)
  }

  @Test(arguments: ["image", "imageUrl"]) func `the picture of either key is attached`(key: String) async throws {
    let bench = ExtensionBench(network: giving(Sample.png, mimeType: "image/png"))
    bench.receive([key: "https://cdn.example.com/talent.png"])
    await bench.untilShown()
    #expect(bench.shown.first?.types == ["public.png"])
    #expect(bench.requested == ["https://cdn.example.com/talent.png"])
    let file = try #require(bench.shown.first?.attachments.first)
    #expect(Array(try Data(contentsOf: file)) == Sample.png)
  }

  @Test(
    "OC-72 the content names the type, then MIME, never a web page",
    arguments: [
      (Sample.png, "image/png", ["public.png"]), (Sample.png, "application/octet-stream", ["public.png"]),
      (Sample.jpeg, "image/png", ["public.jpeg"]), (Sample.html, "text/html", []), (Sample.html, "image/png", []),
    ] as [([UInt8], String, [String])])
  func types(bytes: [UInt8], mimeType: String, expected: [String]) async throws {
    let bench = ExtensionBench(network: giving(bytes, mimeType: mimeType))
    bench.receive(["image": "https://cdn.example.com/i/9f1c?w=200"])
    await bench.untilShown()
    #expect(bench.shown.map(\.types) == [expected])
    #expect(bench.shown.first?.title == "제목")
  }

  @Test(
    "OC-73 only https is fetched, http from this device alone",
    arguments: ["http://cdn.example.com/a.png", "file:///etc/hosts", "ftp://a/b.png", "", "not a url", "https:a"])
  func addresses(address: String) throws {
    let bench = ExtensionBench(network: giving(Sample.png, mimeType: "image/png"))
    bench.receive(["image": address])
    #expect(bench.shown.map(\.types) == [[]])
    #expect(bench.requested.isEmpty)
  }

  @Test("OC-73 budgets: size by type, five redirects, no way back from https") func budgets() async throws {
    let seen = Locked<HTTPDownload?>(nil)
    let bench = ExtensionBench { download in
      seen.withLock { $0 = download }
      throw HTTPFailure(.tooLarge)
    }
    bench.receive(["image": "https://cdn.example.com/a.png"])
    await bench.untilShown()
    let download = try #require(seen.withLock { $0 })
    #expect(download.maximumBytes("image/jpeg") == 10 * 1_048_576)
    #expect(download.maximumBytes("audio/mpeg") == 5 * 1_048_576)
    #expect(download.maximumBytes("video/mp4") == 50 * 1_048_576)
    #expect(download.maximumBytes(nil) == 50 * 1_048_576)
    #expect(download.maximumBytes("text/html") == 0)
    #expect(download.maximumRedirects == 5)
    #expect(download.allows(try #require(URL(string: "https://other.example.com/x"))))
    #expect(!download.allows(try #require(URL(string: "http://127.0.0.1/x"))))
    #expect(bench.shown.map(\.types) == [[]])
  }

  @Test func `a picture above the limit of its own type is not attached, whatever the server called it`() async {
    let bench = ExtensionBench(
      network: giving(Sample.png + [UInt8](repeating: 0, count: 10 * 1_048_576), mimeType: nil))
    bench.receive(["image": "https://cdn.example.com/a"])
    await bench.untilShown()
    #expect(bench.shown.map(\.types) == [[]])
  }

  @Test(arguments: [404, 500, 204]) func `an answer that is not 200 is no picture`(status: Int) async {
    let bench = ExtensionBench(network: giving(Sample.png, mimeType: "image/png", status: status))
    bench.receive(["image": "https://cdn.example.com/a.png"])
    await bench.untilShown()
    #expect(bench.shown.map(\.types) == [[]])
  }

  @Test func `at 25 seconds the text is shown; a picture that comes later changes nothing`() async throws {
    let gate = Locked<CheckedContinuation<Void, Never>?>(nil)
    let ended = Locked(false)
    let bench = ExtensionBench { download in
      await withCheckedContinuation { continuation in gate.withLock { $0 = continuation } }
      defer { ended.withLock { $0 = true } }
      return try await giving(Sample.png, mimeType: "image/png")(download)
    }
    let service = bench.receive(["image": "https://cdn.example.com/a.png"])
    while gate.withLock({ $0 == nil }) { await Task.yield() }
    bench.clock.advance(by: .milliseconds(24_999))
    #expect(bench.shown.isEmpty)
    bench.clock.advance(by: .milliseconds(1))
    #expect(bench.shown.map(\.types) == [[]])
    service.serviceExtensionTimeWillExpire()
    gate.withLock { $0 }?.resume()
    while !ended.withLock({ $0 }) { await Task.yield() }
    bench.clock.advance(by: .seconds(10))
    #expect(bench.shown.count == 1)
  }

  @Test func `the system's own warning finishes it too`() async {
    let bench = ExtensionBench { _ in try await never() }
    let service = bench.receive(["image": "https://cdn.example.com/a.png"])
    service.serviceExtensionTimeWillExpire()
    service.serviceExtensionTimeWillExpire()
    #expect(bench.shown.count == 1)
    bench.clock.advance(by: .seconds(60))
    #expect(bench.shown.count == 1)
  }

  @Test func `deadline, warning and picture at once: finished once`() async {
    for _ in 0..<50 {
      let bench = ExtensionBench(network: giving(Sample.png, mimeType: "image/png"))
      let service = bench.receive(["image": "https://cdn.example.com/a.png"])
      await withTaskGroup(of: Void.self) { group in
        group.addTask { bench.clock.advance(by: .seconds(25)) }
        group.addTask { await bench.untilShown() }
        service.serviceExtensionTimeWillExpire()
      }
      #expect(bench.shown.count == 1)
    }
  }
}

/// A call that only cancellation ends.
private func never() async throws -> Never {
  let (stream, _) = AsyncStream<Void>.makeStream()
  for await _ in stream {}
  throw HTTPFailure(.canceled)
}
