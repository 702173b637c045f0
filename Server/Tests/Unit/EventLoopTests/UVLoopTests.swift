import EventLoop
import PabalPrimitives
import TestSupport
import Testing

/// A handler made of closures.
private final class Ear: ByteChannelHandler {
  var channel: (any ByteChannel)?
  var connected: () -> Void = {}
  var received: (UnsafeRawBufferPointer) -> Void = { _ in }
  var flushed: (UInt64) -> Void = { _ in }
  var closed: (ChannelError?) -> Void = { _ in }

  func channelDidConnect() { connected() }
  func channelDidReceive(_ bytes: UnsafeRawBufferPointer) { received(bytes) }
  func channelDidFlush(totalBytesTaken: UInt64) { flushed(totalBytesTaken) }
  func channelDidClose(_ error: ChannelError?) {
    closed(error)
    // What the closures hold, often this handler, is let go.
    channel = nil
    connected = {}
    received = { _ in }
    flushed = { _ in }
    closed = { _ in }
  }
}

private let loopback = Endpoint(host: "127.0.0.1", port: 0)

private func withLoop(_ body: (UVLoop) async throws -> Void) async throws {
  let loop = try UVLoop()
  do { try await body(loop) } catch {
    loop.stop()
    throw error
  }
  loop.stop()
}

@Suite("The event loop on libuv")
struct UVLoopTests {
  @Test("execute keeps order, from any thread, and runs on the loop's thread")
  func execute() async throws {
    try await withLoop { loop in
      let seen = Locked<[Int]>([])
      for number in 0..<1000 { loop.execute { seen.withLock { $0.append(number) } } }
      let isCurrent: Bool = await loop.run { $0(loop.mark.isCurrent) }
      #expect(isCurrent)
      #expect(!loop.mark.isCurrent)
      #expect(seen.withLock { $0 } == Array(0..<1000))
    }
  }

  @Test("timers fire in the order of their delays; a cancelled one does not")
  func timers() async throws {
    try await withLoop { loop in
      let order: [Int] = await loop.run { done in
        var fired: [Int] = []
        loop.schedule(after: .milliseconds(20)) {
          fired.append(3)
          done(fired)
        }
        let cancelled = loop.schedule(after: .milliseconds(5)) { fired.append(2) }
        loop.schedule(after: .milliseconds(1)) { fired.append(1) }
        loop.cancel(cancelled)
        loop.cancel(cancelled)
      }
      #expect(order == [1, 3])
    }
  }

  @Test("time is the clock's that it was given")
  func clock() async throws {
    let manual = ManualClock(monotonic: .zero.advanced(by: .seconds(77)))
    let loop = try UVLoop(clock: manual.clock)
    let now: Instant = await loop.run { $0(loop.now) }
    #expect(now == .zero.advanced(by: .seconds(77)))
    loop.stop()
    loop.stop()
  }

  @Test("5 MB against a reader that pauses: nothing is lost, and what the kernel took is exact")
  func backPressure() async throws {
    try await withLoop { loop in
      let size = 5_000_000
      let result: (sum: UInt64, count: Int, waited: Bool, taken: UInt64) = await loop.run { done in
        let server = Ear()
        var sum: UInt64 = 0
        var count = 0
        server.received = { bytes in
          for byte in bytes { sum = sum &* 31 &+ UInt64(byte) }
          count += bytes.count
        }
        let client = Ear()
        var waited = false
        var taken: UInt64 = 0
        server.closed = { _ in done((sum, count, waited, taken)) }
        let listener = try? loop.listen(on: loopback) { channel in
          server.channel = channel
          channel.pauseReading()
          return server
        }
        client.connected = {
          let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
          bytes.withUnsafeBytes { client.channel?.write($0) }
          waited = (client.channel?.unsentBytes ?? 0) > 0
          taken = client.channel?.totalBytesTaken ?? 0
          loop.schedule(after: .milliseconds(5)) { server.channel?.resumeReading() }
        }
        client.flushed = { total in
          taken = total
          if total == UInt64(size) {
            client.channel?.close()
            listener?.close()
          }
        }
        client.channel = loop.connect(to: .init(host: "localhost", port: listener?.port ?? 0), handler: client)
      }
      var expected: UInt64 = 0
      for index in 0..<size { expected = expected &* 31 &+ UInt64(UInt8(truncatingIfNeeded: index &* 7)) }
      #expect(result.waited)
      #expect(result.count == size)
      #expect(result.sum == expected)
      #expect(result.taken == UInt64(size))
    }
  }

  @Test("what is written when the channel connects and must wait for the socket arrives once, byte for byte")
  func largeWriteOnConnect() async throws {
    // The reader has a thread of its own: while the writer waits for a writable socket it becomes one.
    let (near, far) = (try UVLoop(), try UVLoop())
    let size = 8_000_000
    let sums = Locked<[UInt64]>([])
    let held = LoopConfined<(any ByteListener)?>(nil, to: far.mark)
    let port: UInt16 = await far.run { done in
      let listener = try? far.listen(on: loopback) { channel in
        let server = Ear()
        server.channel = channel
        var (sum, count): (UInt64, UInt64) = (0, 0)
        server.received = { bytes in
          for byte in bytes { sum = sum &* 31 &+ UInt64(byte) }
          count += UInt64(bytes.count)
        }
        server.closed = { _ in sums.withLock { $0 += [sum, count] } }
        return server
      }
      held.value = listener
      done(listener?.port ?? 0)
    }
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) }
    let expected = bytes.reduce(UInt64(0)) { $0 &* 31 &+ UInt64($1) }
    for _ in 0..<Self.rounds {
      let taken: UInt64 = await near.run { done in
        let client = Ear()
        var taken: UInt64 = 0
        client.connected = {
          bytes.withUnsafeBytes { client.channel?.write($0) }
          client.flushed(client.channel?.totalBytesTaken ?? 0)
        }
        client.flushed = { total in
          taken = total
          // More than was written: it would never end in order.
          if total > UInt64(size) { client.channel?.abort() }
          if total == UInt64(size) { client.channel?.close() }
        }
        client.closed = { _ in done(taken) }
        client.channel = near.connect(to: .init(host: "127.0.0.1", port: port), handler: client)
      }
      #expect(taken == UInt64(size))
    }
    // The far side may still be reading what the near side is done with.
    while sums.withLock({ $0.count }) < 2 * Self.rounds { await Task.yield() }
    near.stop()
    far.stop()
    let seen = sums.withLock { $0 }
    #expect(seen == (0..<Self.rounds).flatMap { _ in [expected, UInt64(size)] })
  }

  /// Enough that the socket becomes writable at the wrong moment in at least one of them.
  private static let rounds = 4

  @Test("a name with a dead address and a living one: the living one is reached", arguments: ["127.0.0.2", "::1"])
  func racesAddresses(dead: String) async throws {
    // Nothing listens on the first address at this port; the second one is ours.
    let loop = try UVLoop(hosts: ["apns.test": [dead, "127.0.0.1"]])
    let isUp: Bool = await loop.run { done in
      let listener = try? loop.listen(on: loopback) { _ in Ear() }
      let client = Ear()
      client.connected = { done(true) }
      client.closed = { _ in done(false) }
      client.channel = loop.connect(to: .init(host: "apns.test", port: listener?.port ?? 0), handler: client)
    }
    #expect(isUp)
    loop.stop()
  }

  @Test("a name of which every address is dead: the last failure; a dial given up tells only its own end")
  func deadNames() async throws {
    let loop = try UVLoop(hosts: ["apns.test": ["127.0.0.1", "127.0.0.2"], "empty.test": []])
    let ends: [ChannelError?] = await loop.run { done in
      let listener = try? loop.listen(on: loopback) { _ in nil }
      let port = listener?.port ?? 0
      listener?.close()
      var ends: [ChannelError?] = []
      func dial(_ host: String, abort: Bool, then next: @escaping () -> Void) {
        let ear = Ear()
        ear.closed = {
          ends.append($0)
          next()
        }
        ear.channel = loop.connect(to: .init(host: host, port: port), handler: ear)
        if abort { ear.channel?.abort() }
      }
      loop.schedule(after: .milliseconds(1)) {
        dial("apns.test", abort: false) {
          dial("empty.test", abort: false) {
            dial("apns.test", abort: true) { done(ends) }
          }
        }
      }
    }
    #expect(ends == [ChannelError(.refused, ""), ChannelError(.nameNotFound, ""), nil])
    loop.stop()
  }

  @Test("nobody listens: connection_refused")
  func refused() async throws {
    try await withLoop { loop in
      let error: ChannelError? = await loop.run { done in
        // A port that was free a moment ago.
        let listener = try? loop.listen(on: loopback) { _ in nil }
        let port = listener?.port ?? 0
        listener?.close()
        loop.schedule(after: .milliseconds(1)) {
          let ear = Ear()
          ear.closed = { done($0) }
          ear.channel = loop.connect(to: .init(host: "127.0.0.1", port: port), handler: ear)
        }
      }
      #expect(error == ChannelError(.refused, ""))
    }
  }

  @Test("a port that is taken: address_in_use; a name to listen on: name_not_found")
  func listenErrors() async throws {
    try await withLoop { loop in
      let kinds: [ChannelError.Kind?] = await loop.run { done in
        do {
          let first = try loop.listen(on: loopback) { _ in nil }
          var kinds: [ChannelError.Kind?] = []
          for endpoint in [Endpoint(host: "127.0.0.1", port: first.port), .init(host: "example.com", port: 0)] {
            do throws(ChannelError) {
              _ = try loop.listen(on: endpoint) { _ in nil }
              kinds.append(nil)
            } catch {
              kinds.append(error.kind)
            }
          }
          first.close()
          done(kinds)
        } catch {
          done([])
        }
      }
      #expect(kinds == [.addressInUse, .nameNotFound])
    }
  }

  @Test("abort is a reset at the other side, close is an orderly end; writing to the dead does not kill the process")
  func ends() async throws {
    try await withLoop { loop in
      for aborts in [true, false] {
        let error: ChannelError? = await loop.run { done in
          let server = Ear()
          let client = Ear()
          let listener = try? loop.listen(on: loopback) { channel in
            server.channel = channel
            loop.schedule(after: .milliseconds(5)) { if aborts { channel.abort() } else { channel.close() } }
            return server
          }
          client.closed = { error in
            listener?.close()
            done(error)
          }
          client.connected = {
            // Goes on writing after the peer has gone.
            func pester(_ left: Int) {
              guard left > 0 else { return }
              [1, 2, 3].withUnsafeBytes { client.channel?.write($0) }
              loop.schedule(after: .milliseconds(1)) { pester(left - 1) }
            }
            pester(20)
          }
          client.channel = loop.connect(to: .init(host: "127.0.0.1", port: listener?.port ?? 0), handler: client)
        }
        #expect(error == (aborts ? ChannelError(.reset, "") : nil))
      }
    }
  }

  @Test("stop ends open channels with loop_stopped, drops timers and later work")
  func stop() async throws {
    let loop = try UVLoop()
    let ends = Locked<[ChannelError?]>([])
    let late = Locked(false)
    let _: Bool = await loop.run { done in
      let server = Ear()
      let client = Ear()
      let listener = try? loop.listen(on: loopback) { channel in
        server.channel = channel
        return server
      }
      server.closed = { error in ends.withLock { $0.append(error) } }
      client.closed = { error in ends.withLock { $0.append(error) } }
      client.connected = { done(true) }
      client.channel = loop.connect(to: .init(host: "127.0.0.1", port: listener?.port ?? 0), handler: client)
      loop.schedule(after: .seconds(3600)) { late.withLock { $0 = true } }
    }
    loop.stop()
    loop.execute { late.withLock { $0 = true } }
    let stopped = ChannelError(.loopStopped, "")
    #expect(ends.withLock { $0 }.allSatisfy { $0 == stopped })
    #expect(ends.withLock { $0.count } >= 1)
    #expect(!late.withLock { $0 })
  }

  @Test("a value of the loop can be carried by another thread and opened on the loop")
  func confined() async throws {
    try await withLoop { loop in
      let box = LoopConfined([1], to: loop.mark)
      let value: [Int] = await loop.run { done in
        box.value.append(2)
        done(box.value)
      }
      #expect(value == [1, 2])
    }
  }
}
