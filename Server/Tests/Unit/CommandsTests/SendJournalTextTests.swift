import Commands
import PabalModel
import Testing

@Suite struct SendJournalTextTests {
  private typealias Ending = JournalState.Ending

  @Test func rangesGoBothWays() {
    var bytes: [UInt8] = []
    LineRanges.append([1, 2, 3, 7, 9, 10], to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "1-3,7,9-10")
    #expect(LineRanges.parse("1-3,7,9-10", last: 10) == [1...3, 7...7, 9...10])
    for text in ["", "0", "3-1", "11", "1-", "-1", "a", "1,,2", "1-2-3", "1 "] {
      #expect(LineRanges.parse(text[...], last: 10) == nil, "\(text)")
    }
  }

  @Test func recordsGoBothWays() throws {
    var bytes: [UInt8] = []
    JournalRecord.appendHandedOver([1, 2, 4], to: &bytes)
    JournalRecord.appendEnded([(2, Ending(state: .rejected, reason: .apns("Odd reason\n")))], to: &bytes)
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    #expect(lines.map { JournalRecord($0, last: 4) }.contains(nil) == false)
    #expect(JournalRecord(lines[0], last: 4) == .handedOver([1...2, 4...4]))
    let reason = ReasonCode(rawValue: "apns.Odd_reason_")
    #expect(JournalRecord(lines[1], last: 4) == .ended([2...2], Ending(state: .rejected, reason: reason)))
    #expect(JournalRecord("sent 1-5", last: 4) == nil)
    #expect(JournalRecord("end accepted - 1 2", last: 4) == nil)
    #expect(JournalRecord("end asleep - 1", last: 4) == nil)
  }

  @Test func linesMoveOneWay() {
    var state = JournalState()
    let accepted = Ending(state: .accepted, reason: nil)
    state.handOver(1...100)
    state.end(1...60, accepted)
    // Never written: it is sent by the next run.
    state.end(61...70, Ending(state: .canceled, reason: .interrupted))
    state.end(50...60, Ending(state: .unknown, reason: .replyLost))
    #expect(state.ended.count == 60)
    #expect(state.handedOver.count == 30)
    #expect(!state.handedOver.contains(61) && state.handedOver.contains(71) && !state.handedOver.contains(101))
    #expect(state.counts == [accepted: 60])
    state.handOver(1...1)
    #expect(state.handedOver.count == 30)
  }

  @Test func whatEndedUnknownIsSentAgainOnlyWhenItIsReopened() {
    var state = JournalState()
    let accepted = Ending(state: .accepted, reason: nil)
    let lost = Ending(state: .unknown, reason: .replyLost)
    state.handOver(1...10)
    state.end(1...6, accepted)
    state.end(7...8, lost)
    #expect(state.counts == [accepted: 6, lost: 2])
    #expect(!state.handedOver.contains(7))
    var reopened = state
    reopened.reopenUnknown(last: 10)
    #expect(reopened.counts == [accepted: 6])
    #expect(reopened.handedOver.count == 4 && reopened.handedOver.contains(7))
    #expect(!reopened.ended.contains(7) && reopened.ended.contains(6))
    // What the repeat came to is the line's last word; a repeat that was canceled says nothing new.
    state.handOver(7...8)
    state.end(7...7, accepted)
    state.end(8...8, Ending(state: .canceled, reason: .interrupted))
    #expect(state.counts == [accepted: 7, lost: 1])
    #expect(state.handedOver.count == 2)
  }
}
