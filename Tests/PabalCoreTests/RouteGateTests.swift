import PabalCore
import PabalPrimitives
import Testing

@Suite struct RouteGateTests {
  private func route(_ id: String, scene: String? = nil) -> RouteGate.Route {
    RouteGate.Route(link: ["id": id].link, scene: scene)
  }

  private func at(_ seconds: UInt64) -> Instant {
    Instant(nanoseconds: seconds * 1_000_000_000)
  }

  @Test("OC-75 held while closed, the latest wins, performed once when ready") func heldUntilReady() {
    var gate = RouteGate()
    gate.accountIs(epoch: 1, changed: false)
    #expect(gate.offer(route("a"), now: at(0)) == nil)
    #expect(gate.offer(route("b"), now: at(1)) == nil)
    #expect(gate.next(now: at(2)) == nil)
    gate.becomeReady()
    #expect(gate.next(now: at(2)) == route("b"))
    #expect(gate.next(now: at(2)) == nil)
    #expect(gate.offer(route("c"), now: at(3)) == route("c"))
    gate.becomeUnready()
    #expect(gate.offer(route("d"), now: at(4)) == nil)
  }

  @Test("OC-74 consumed once") func consumedOnce() {
    var gate = RouteGate()
    gate.accountIs(epoch: 1, changed: false)
    _ = gate.offer(route("a"), now: at(0))
    #expect(gate.consume(now: at(1)) == route("a").link)
    #expect(gate.consume(now: at(1)) == nil)
    gate.becomeReady()
    #expect(gate.next(now: at(1)) == nil)
  }

  @Test func `nothing leaves before the account is known`() {
    var gate = RouteGate()
    _ = gate.offer(route("a"), now: at(0))
    gate.becomeReady()
    #expect(gate.next(now: at(1)) == nil)
    #expect(gate.consume(now: at(1)) == nil)
    gate.accountIs(epoch: 3, changed: false)
    #expect(gate.next(now: at(1)) == route("a"))
  }

  @Test func `a route of another account is dropped`() {
    var gate = RouteGate()
    gate.accountIs(epoch: 1, changed: false)
    _ = gate.offer(route("a"), now: at(0))
    gate.accountIs(epoch: 2, changed: true)
    gate.becomeReady()
    #expect(gate.next(now: at(1)) == nil)
  }

  @Test func `a new number for the same account takes no route away`() {
    var gate = RouteGate()
    gate.accountIs(epoch: 2, changed: false)
    _ = gate.offer(route("a"), now: at(0))
    gate.accountIs(epoch: 8, changed: false)
    gate.becomeReady()
    #expect(gate.next(now: at(1)) == route("a"))
  }

  @Test func `the first sign-in of all takes no route away`() {
    var gate = RouteGate()
    gate.accountIs(epoch: 0, changed: false)
    _ = gate.offer(route("a"), now: at(0))
    gate.accountIs(epoch: 1, changed: true)
    gate.becomeReady()
    #expect(gate.next(now: at(1)) == route("a"))
  }

  @Test func `after five minutes the user has gone on`() {
    var gate = RouteGate()
    gate.accountIs(epoch: 1, changed: false)
    _ = gate.offer(route("a"), now: at(0))
    gate.becomeReady()
    #expect(gate.next(now: at(301)) == nil)
    gate.becomeUnready()
    _ = gate.offer(route("b"), now: at(400))
    gate.becomeReady()
    #expect(gate.next(now: at(700)) == route("b"))
  }

  @Test func `one route a scene, and eight scenes at most`() {
    var gate = RouteGate()
    gate.accountIs(epoch: 1, changed: false)
    for number in 0..<9 { _ = gate.offer(route("r\(number)", scene: "s\(number)"), now: at(0)) }
    gate.becomeReady()
    var left: [String] = []
    while let route = gate.next(now: at(1)) { left.append(route.scene ?? "") }
    #expect(left == (1..<9).map { "s\($0)" })
  }
}

extension [String: String] {
  var link: PabalLink {
    PabalLink(payload: .object(sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) }))
  }
}
