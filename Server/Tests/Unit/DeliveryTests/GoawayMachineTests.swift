import Delivery
import Testing

@Suite struct GoawayMachineTests {
  @Test("After GOAWAY no push is written here, in-flight ones may finish, then the connection is closed")
  func leavesOnce() {
    var goaway = GoawayMachine()
    #expect(goaway.acceptsPushes)
    #expect(goaway.handle(.goaway(lastStreamID: .max)) == [.retire(byPeer: true)])
    #expect(!goaway.acceptsPushes)
    #expect(goaway.handle(.goaway(lastStreamID: 7)) == [])
    #expect(goaway.lastStreamID == 7)
    #expect(goaway.handle(.drained) == [.close])
    #expect(goaway.handle(.drained) == [])
    #expect(goaway.handle(.closed(lost: [], unsent: [])) == [])
    #expect(!goaway.acceptsPushes)
  }

  @Test("What was not processed is given back once, though GOAWAY and the close both name it")
  func givesBackOnce() {
    var goaway = GoawayMachine()
    _ = goaway.handle(.goaway(lastStreamID: 3))
    #expect(goaway.handle(.unprocessed([5, 7])) == [.giveBack([5, 7])])
    #expect(goaway.handle(.unprocessed([7])) == [])
    #expect(goaway.handle(.closed(lost: [3, 5], unsent: [7, 9])) == [.giveBack([9]), .lose([3])])
    #expect(goaway.handle(.closed(lost: [3], unsent: [9])) == [])
  }

  @Test("A second GOAWAY may give up more than the first one; only what is new goes back")
  func secondGoaway() {
    var goaway = GoawayMachine()
    _ = goaway.handle(.goaway(lastStreamID: .max))
    #expect(goaway.handle(.goaway(lastStreamID: 5)) == [])
    #expect(goaway.handle(.unprocessed([7])) == [.giveBack([7])])
    #expect(goaway.handle(.goaway(lastStreamID: 1)) == [])
    #expect(goaway.handle(.unprocessed([3, 5, 7])) == [.giveBack([3, 5])])
  }

  @Test("A stream refused on an open connection may be refused again: each time it goes back into the line")
  func refusedTwice() {
    var goaway = GoawayMachine()
    #expect(goaway.handle(.unprocessed([1])) == [.giveBack([1])])
    #expect(goaway.acceptsPushes)
    #expect(goaway.handle(.unprocessed([1])) == [.giveBack([1])])
  }

  @Test func aConnectionThatJustEndsIsRetiredAndSortsItsPushes() {
    var goaway = GoawayMachine()
    #expect(goaway.handle(.closed(lost: [1], unsent: [2])) == [.retire(byPeer: true), .giveBack([2]), .lose([1])])
  }

  @Test func retiringOnOurSideIsTheSameWithoutTheFrame() {
    var goaway = GoawayMachine()
    #expect(goaway.handle(.retire) == [.retire(byPeer: false)])
    #expect(goaway.handle(.retire) == [])
    #expect(goaway.lastStreamID == nil)
    #expect(goaway.handle(.drained) == [.close])
  }
}
