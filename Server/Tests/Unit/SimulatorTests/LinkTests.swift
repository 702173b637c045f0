import PabalPrimitives
import Simulator
import Testing

@Suite struct LinkTests {
  private func say(_ bench: inout PushBench, _ link: StandInLinkID) -> [String] {
    var said: [String] = []
    while let event = bench.core.nextLinkEvent(link) {
      switch event {
      case .ready(let device): said.append("ready \(device.id)")
      case .push(let push): said.append(push.id)
      case .replaced: said.append("replaced")
      case .ended: said.append("ended")
      }
      if ["replaced", "ended"].contains(said.last) { break }
    }
    return said
  }

  private func wakes(_ actions: [StandInAction]) -> [Int] {
    actions.compactMap { if case .wake(let link) = $0 { link.rawValue } else { nil } }
  }

  @Test("a link says ready, then each push as it comes, under its inbox id") func pushes() throws {
    var bench = try PushBench()
    let (link, actions) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(wakes(actions) == [link.rawValue])
    #expect(say(&bench, link) == ["ready phone"])
    let answer = try bench.send()
    #expect(wakes(answer.actions) == [link.rawValue])
    #expect(bench.inbox.map(\.state) == [.stored], "not handed over yet")
    #expect(say(&bench, link) == ["in_1"])
    #expect(bench.inbox.map(\.state) == [.displayed])
    #expect(say(&bench, link).isEmpty)
  }

  @Test("from its first link on a device is online while linked; pushes meanwhile are stored") func offline() throws {
    var bench = try PushBench()
    let (link, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    bench.core.linkClosed(link)
    #expect(bench.core.device(id: "phone")?.isOnline == false)
    try bench.send()
    try bench.send()
    #expect(bench.inbox.map(\.state) == [.replaced, .stored])
    let (again, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(say(&bench, again) == ["ready phone", "in_2"])
    #expect(throws: StandInDeviceFault.followsItsLink) { try bench.core.setOnline(true, ofDevice: "phone") }
  }

  @Test("written pushes newer than Last-Event-ID come again, then the stored one, in order") func replay() throws {
    var bench = try PushBench()
    let (link, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    for _ in 0..<3 { try bench.send() }
    #expect(say(&bench, link) == ["ready phone", "in_1", "in_2", "in_3"])
    bench.core.linkClosed(link)
    try bench.send()
    let (again, _) = try bench.core.openLink(device: "phone", lastEventID: "in_1")
    #expect(say(&bench, again) == ["ready phone", "in_2", "in_3", "in_4"])
    bench.core.linkClosed(again)
    let (fresh, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(say(&bench, fresh) == ["ready phone"], "without an id nothing is repeated")
    bench.core.linkClosed(fresh)
    for unknown in ["in_999", "x"] {
      let (other, _) = try bench.core.openLink(device: "phone", lastEventID: unknown)
      #expect(say(&bench, other) == ["ready phone", "in_1", "in_2", "in_3", "in_4"])
      bench.core.linkClosed(other)
    }
  }

  @Test("what a lost link had not said is stored, by the rules of storing") func unsaid() throws {
    var bench = try PushBench()
    let (link, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(say(&bench, link) == ["ready phone"])
    try bench.send { $0.expiration = "0" }
    try bench.send()
    try bench.send()
    bench.core.linkClosed(link)
    #expect(bench.inbox.map(\.state) == [.expired, .replaced, .stored])
    let (again, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(say(&bench, again) == ["ready phone", "in_3"])
  }

  @Test("a newer link replaces an older one and takes over what that had not said") func replaced() throws {
    var bench = try PushBench()
    let (first, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(say(&bench, first) == ["ready phone"])
    try bench.send()
    let (second, actions) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(wakes(actions) == [first.rawValue, second.rawValue])
    #expect(say(&bench, first) == ["replaced"])
    #expect(say(&bench, second) == ["ready phone", "in_1"])
    bench.core.linkClosed(first)
    #expect(bench.core.device(id: "phone")?.isOnline == true, "the older end does not take the newer off-line")
  }

  @Test("an orderly leave ends the stream") func leave() throws {
    var bench = try PushBench()
    let (link, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(say(&bench, link) == ["ready phone"])
    #expect(wakes(try bench.core.setOnline(false, ofDevice: "phone")) == [link.rawValue])
    #expect(say(&bench, link) == ["ended"])
    try bench.send()
    #expect(bench.inbox.map(\.state) == [.stored])
  }

  @Test("an uninstalled device's stream ends, and none opens") func uninstalled() throws {
    var bench = try PushBench()
    let (link, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(wakes(try bench.core.setState(.unregistered(at: 9), ofDevice: "phone")) == [link.rawValue])
    #expect(say(&bench, link) == ["ended"])
    #expect(throws: StandInDeviceFault.notRegistered) {
      try bench.core.openLink(device: "phone", lastEventID: nil)
    }
    #expect(throws: StandInDeviceFault.unknownDevice) { try bench.core.openLink(device: "?", lastEventID: nil) }
  }

  @Test("a deleted device's stream ends") func deleted() throws {
    var bench = try PushBench()
    let (link, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(wakes(try bench.core.removeDevice("phone")) == [link.rawValue])
    #expect(say(&bench, link) == ["ended"])
  }
}

extension LinkTests {
  @Test("a reset with devices ends their links, replaced ones as well") func resetEndsLinks() throws {
    var bench = try PushBench()
    let (older, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    let (newer, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    #expect(wakes(bench.core.reset(devicesToo: true)) == [newer.rawValue])
    for link in [older, newer] {
      #expect(say(&bench, link) == ["ended"])
      bench.core.linkClosed(link)
    }
  }

  @Test("a device in a removed one's place does not hear of its link") func placeUsedAgain() throws {
    var bench = try PushBench()
    let (link, _) = try bench.core.openLink(device: "phone", lastEventID: nil)
    _ = try bench.core.removeDevice("phone")
    let next = try bench.core.addDevice(StandInDeviceDraft(topic: PushBench.topic))
    let (other, _) = try bench.core.openLink(device: next.id, lastEventID: nil)
    #expect(say(&bench, link) == ["ended"])
    bench.core.linkClosed(link)
    #expect(say(&bench, other) == ["ready \(next.id)"])
    #expect(bench.core.device(id: next.id)?.isOnline == true)
  }
}
