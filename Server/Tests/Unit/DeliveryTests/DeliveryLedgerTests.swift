import Delivery
import PabalModel
import PabalPrimitives
import Testing

@Suite struct DeliveryLedgerTests {
  @Test("OC-18: A 400 BadDeviceToken, B 413 PayloadTooLarge, C 403 TopicDisallowed, D 500 twice then 200")
  func permanentRejectionsAreNotRepeated() {
    var peer = LedgerPeer()
    peer.replies = [
      "A": [.status(400, "BadDeviceToken")], "B": [.status(413, "PayloadTooLarge")],
      "C": [.status(403, "TopicDisallowed")],
      "D": [.status(500, "InternalServerError"), .status(500, "InternalServerError"), .status(200, nil)],
    ]
    for name in ["A", "B", "C", "D"] { peer.admit(name) }
    peer.run()
    #expect(peer.written == ["A": 1, "B": 1, "C": 1, "D": 3])
    #expect(peer.endings["A"]?.reason == .apns("BadDeviceToken"))
    #expect(peer.endings["B"]?.reason == .apns("PayloadTooLarge"))
    #expect(peer.endings["C"]?.reason == .apns("TopicDisallowed"))
    #expect(["A", "B", "C"].allSatisfy { peer.endings[$0]?.state == .rejected })
    #expect(peer.endings["D"]?.state == .accepted)
    #expect(peer.endings["D"]?.attempts == 3)
    #expect(peer.now <= at(6))
  }

  @Test("OC-18: attempts are bounded, and never past the message's expiration")
  func repeatsAreBounded() {
    var peer = LedgerPeer()
    peer.replies = ["for ever": [.status(503, "ServiceUnavailable")], "late": [.status(429, "TooManyRequests")]]
    peer.admit("for ever")
    peer.admit("late", DeliveryTerms(deadline: at(0.001)))
    peer.run()
    #expect(peer.written["for ever"] == 4)
    #expect(peer.endings["for ever"]?.state == .expired)
    #expect(peer.endings["for ever"]?.reason == .apns("ServiceUnavailable"))
    #expect(peer.written["late"] == 1)
    #expect(peer.endings["late"]?.state == .expired)
    #expect(peer.endings["late"]?.reason == .apns("TooManyRequests"))
  }

  @Test("OC-16: always 403 ExpiredProviderToken: one re-send, then the push fails with that reason; two on the wire")
  func expiredProviderToken() {
    var peer = LedgerPeer()
    peer.replies = ["A": [.status(403, "ExpiredProviderToken")]]
    peer.admit("A")
    peer.run()
    #expect(peer.written == ["A": 2])
    #expect(peer.endings["A"]?.state == .rejected)
    #expect(peer.endings["A"]?.reason == .apns("ExpiredProviderToken"))
  }

  @Test("OC-14: streams 1, 3, 5, 7; 1 answered, GOAWAY(last=3), 3 answered, closed: 5 and 7 once more, elsewhere")
  func goaway() {
    var peer = LedgerPeer()
    var machine = GoawayMachine()
    for name in ["1", "3", "5", "7"] { peer.admit(name) }
    let tags = peer.submitAll()
    peer.answer(tags[0], .status(200, nil))
    #expect(machine.handle(.goaway(lastStreamID: 3)) == [.retire(byPeer: true)])
    for case .giveBack(let back) in machine.handle(.unprocessed([tags[2], tags[3]])) {
      peer.handle(.givenBack(back, from: 1))
    }
    peer.answer(tags[1], .status(200, nil))
    for action in machine.handle(.closed(lost: [], unsent: [tags[2], tags[3]])) {
      Issue.record("nothing is left to sort at the close: \(action)")
    }
    peer.connection = 2
    let again = peer.submitAll()
    #expect(again == [tags[2], tags[3]])
    again.forEach { peer.answer($0, .status(200, nil)) }
    #expect(peer.written == ["1": 1, "3": 1, "5": 2, "7": 2])
    #expect(peer.endings.values.allSatisfy { $0.state == .accepted && $0.attempts == 1 })
    #expect(peer.endings["3"]?.connection == 1)
    #expect(peer.endings["5"]?.connection == 2)
    #expect(peer.endingsSeen == 4)
    #expect(peer.ledger.open == 0)
  }

  @Test("Written without a reply: unknown, unless a repeat is harmless, then exactly one repeat")
  func lostReplies() {
    var peer = LedgerPeer()
    peer.admit("plain")
    peer.admit("collapses", DeliveryTerms(repeatsUnknown: true))
    let first = peer.submitAll()
    peer.handle(.lost(first, from: 1))
    #expect(peer.endings["plain"]?.state == .unknown)
    #expect(peer.endings["plain"]?.reason == .replyLost)
    #expect(peer.endings["collapses"] == nil)
    peer.connection = 2
    let second = peer.submitAll()
    #expect(second == [first[1]])
    peer.handle(.lost(second, from: 2))
    #expect(peer.endings["collapses"]?.state == .unknown)
    #expect(peer.endings["collapses"]?.attempts == 2)
  }

  @Test("OC-13: unsent when the connection was reset: once more on a fresh connection, and it counts as one attempt")
  func unsent() {
    var peer = LedgerPeer()
    peer.admit("A")
    let tags = peer.submitAll(writes: false)
    peer.handle(.givenBack(tags, from: 1))
    peer.connection = 2
    let again = peer.submitAll()
    #expect(again == tags)
    peer.answer(tags[0], .status(200, nil))
    #expect(peer.endings["A"]?.state == .accepted)
    #expect(peer.endings["A"]?.attempts == 1)
  }

  @Test func aLateWordOfTheOldConnectionChangesNothing() {
    var peer = LedgerPeer()
    peer.admit("A")
    let tags = peer.submitAll()
    peer.handle(.givenBack(tags, from: 1))
    peer.connection = 2
    peer.submitAll()
    peer.handle(.lost(tags, from: 1))
    peer.handle(.givenBack(tags, from: 1))
    #expect(peer.endings.isEmpty)
    peer.answer(tags[0], .status(200, nil))
    peer.answer(tags[0], .status(400, "BadDeviceToken"))
    #expect(peer.endings["A"]?.state == .accepted)
    #expect(peer.endingsSeen == 1)
  }

  @Test("A peer that refuses every stream does not keep us spinning")
  func refusedForEver() {
    var peer = LedgerPeer()
    peer.admit("A")
    for _ in 0..<100 where peer.ledger.open > 0 {
      peer.handle(.givenBack(peer.submitAll(), from: 1))
      if let wake = peer.ledger.nextWake { peer.now = max(peer.now, wake) }
      peer.handle(.wake)
    }
    #expect(peer.written["A"] == 17)
    #expect(peer.endings["A"]?.state == .expired)
    #expect(peer.endings["A"]?.reason == .providerUnreachable)
    #expect(peer.now > at(30))
  }

  @Test("No reply within the request timeout: reset, unknown, and the connection is asked whether it lives")
  func requestTimeout() {
    var peer = LedgerPeer()
    peer.admit("written")
    peer.submitAll()
    peer.admit("unwritten")
    peer.submitAll(writes: false)
    #expect(peer.ledger.nextWake == at(30))
    peer.now = at(30)
    peer.handle(.wake)
    #expect(peer.resets.sorted() == ["unwritten", "written"])
    #expect(peer.endings["written"]?.state == .unknown)
    #expect(peer.endings["unwritten"] == nil)
    #expect(peer.ledger.firstWaiting(now: peer.now) != nil)
    #expect(peer.suspects == 2)
  }

  @Test(
    "Put back after its request's time, with nowhere to go: it ends at its own deadline, and the ledger wakes for it",
    arguments: [true, false])
  func deadlineAfterRequestTimeout(isWritten: Bool) {
    var peer = LedgerPeer()
    peer.admit("A", DeliveryTerms(deadline: at(100), repeatsUnknown: true))
    _ = peer.submitAll(writes: isWritten)
    while peer.ledger.open > 0, let wake = peer.ledger.nextWake {
      peer.now = max(peer.now, wake)
      // The transport looks at the line after each wake, and may not send.
      peer.handle(.wake)
      _ = peer.ledger.firstWaiting(now: peer.now)
    }
    #expect(peer.ledger.open == 0)
    #expect(peer.endings["A"]?.state == (isWritten ? .unknown : .expired))
    #expect(peer.now >= at(100) && peer.now <= at(101))
  }

  @Test("At the deadline: waiting → expired, written → unknown, with the last cause")
  func deadline() {
    var peer = LedgerPeer()
    peer.admit("written", DeliveryTerms(deadline: at(3)))
    peer.submitAll()
    peer.admit("waiting", DeliveryTerms(deadline: at(3)))
    peer.now = at(3)
    peer.handle(.wake)
    #expect(peer.endings["written"]?.state == .unknown)
    #expect(peer.endings["written"]?.reason == .replyLost)
    #expect(peer.endings["waiting"]?.state == .expired)
    #expect(peer.endings["waiting"]?.reason == .timeToLiveElapsed)
    #expect(peer.endings["waiting"]?.attempts == 0)
    #expect(peer.endings["waiting"]?.started == nil)
  }

  @Test("Past its deadline a push is not handed out, even between two looks at the deadlines")
  func neverSentLate() {
    var peer = LedgerPeer()
    peer.admit("first", DeliveryTerms(deadline: at(1)))
    peer.now = at(1)
    peer.handle(.wake)
    peer.admit("late", DeliveryTerms(deadline: at(0.5)))
    #expect(peer.submitAll().isEmpty)
    #expect(peer.ledger.nextWake == at(1.02))
    peer.now = at(1.02)
    peer.handle(.wake)
    #expect(peer.endings["late"]?.state == .expired)
    #expect(peer.endings["late"]?.attempts == 0)
  }

  @Test func withoutAnyConnectionTheReasonIsThat() {
    var peer = LedgerPeer()
    peer.handle(.reachability(false))
    peer.admit("A", DeliveryTerms(deadline: at(3)))
    peer.admit("B")
    peer.now = at(3)
    peer.handle(.wake)
    #expect(peer.endings["A"]?.reason == .providerUnreachable)
    peer.handle(.unreachable)
    #expect(peer.endings["B"]?.state == .expired)
    #expect(peer.endings["B"]?.reason == .providerUnreachable)
  }

  @Test("OC-80: 500 cancelled before the response, 500 that time out: 1000 endings, each once")
  func cancelledAndTimedOut() {
    var peer = LedgerPeer()
    var cancelled: [PushTag] = []
    for index in 0..<1000 {
      let tag = peer.admit("\(index)")
      if index % 2 == 0 { cancelled.append(tag) }
    }
    peer.submitAll()
    peer.handle(.cancel(cancelled, grace: .zero))
    #expect(peer.endingsSeen == 500)
    peer.now = at(30)
    peer.handle(.wake)
    #expect(peer.endingsSeen == 1000)
    #expect(peer.endings.count == 1000)
    #expect(peer.endings["0"]?.reason == .interrupted)
    #expect(peer.endings["1"]?.reason == .replyLost)
    #expect(peer.endings.values.allSatisfy { $0.state == .unknown })
    #expect(peer.resets.count == 1000)
    #expect(peer.ledger.open == 0)
    #expect(peer.ledger.nextWake == nil)
    #expect(peer.ledger.slots == 1000)
  }

  @Test("An interrupt ends what is unsent at once and waits 5 s for what is written")
  func interrupt() {
    var peer = LedgerPeer()
    let answered = peer.admit("answered in time")
    let silent = peer.admit("silent")
    peer.submitAll()
    let unsent = peer.admit("unsent")
    peer.submitAll(writes: false)
    let waiting = peer.admit("waiting")
    peer.handle(.cancel([answered, silent, unsent, waiting], grace: .seconds(5)))
    #expect(peer.endings["unsent"]?.state == .canceled)
    #expect(peer.endings["waiting"]?.state == .canceled)
    #expect(peer.endings["waiting"]?.reason == .interrupted)
    #expect(peer.endings.count == 2)
    peer.answer(answered, .status(200, nil))
    #expect(peer.endings["answered in time"]?.state == .accepted)
    peer.now = at(5)
    peer.handle(.wake)
    #expect(peer.endings["silent"]?.state == .unknown)
    #expect(peer.endings["silent"]?.reason == .interrupted)
  }

  @Test func aRefusedCredentialEndsWhatWaits() {
    var peer = LedgerPeer()
    peer.admit("A")
    let tags = peer.submitAll()
    peer.admit("B")
    peer.answer(tags[0], .status(403, "InvalidProviderToken"))
    peer.handle(.credentialRefused(.apns("InvalidProviderToken")))
    #expect(peer.endings["A"]?.state == .rejected)
    #expect(peer.endings["B"]?.state == .canceled)
    #expect(peer.endings["B"]?.reason == .apns("InvalidProviderToken"))
  }

  @Test func slotsAreUsedAgainUnderAnotherTag() {
    var peer = LedgerPeer()
    let first = peer.admit("A")
    peer.submitAll()
    peer.answer(first, .status(200, nil))
    let second = peer.admit("B")
    #expect(second.slot == first.slot)
    #expect(second != first)
    #expect(peer.ledger.isOpen(second) && !peer.ledger.isOpen(first))
  }

  @Test func theSimulationsResendIsAResend() {
    var peer = LedgerPeer(planted: .resendAccepted)
    for index in 0..<40 {
      peer.admit("\(index)")
      peer.replies["\(index)"] = [.status(200, nil)]
    }
    peer.run()
    #expect(peer.written.values.filter { $0 == 2 }.count == 1)
  }
}
