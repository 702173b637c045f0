import PabalPrimitives
import Storage
import Testing

@Suite struct OpaqueIDTests {
  @Test func `text and bytes of any 128 bits come back`() {
    var generator = SeededGenerator(seed: 1)
    for id in [OpaqueID(high: 0, low: 0), OpaqueID(high: .max, low: .max)]
      + (0..<500).map({ _ in OpaqueID(high: generator.next(), low: generator.next()) })
    {
      let text = id.text(prefix: "dlv_")
      #expect(text.utf8.count == 30)
      #expect(OpaqueID(text: text, prefix: "dlv_") == id)
      #expect(OpaqueID(bytes: id.bytes) == id)
    }
  }

  @Test(arguments: [
    "", "dlv_", "dlv_0000000000000000000000000", "dlv_000000000000000000000000000", "dlv_0000000000000000000000000U",
    "dlv_80000000000000000000000000", "msg_00000000000000000000000000", "dlv_0000000000000000000000000a",
  ]) func `anything else is no id`(text: String) {
    #expect(OpaqueID(text: text, prefix: "dlv_") == nil)
  }

  @Test func `time-ordered ids sort by their time`() {
    let texts = [0, 1, 1_800_000_000_000, 1_800_000_000_001, 281_474_976_710_655].map { time in
      OpaqueID.timeOrdered(milliseconds: time, chance: Randomness.seeded(UInt64(time)).fill(10)).text(prefix: "msg_")
    }
    #expect(texts == texts.sorted())
  }

  @Test func `a UUID has its version and variant`() {
    #expect(OpaqueID(high: 0, low: 0).uuid == "00000000-0000-8000-8000-000000000000")
    #expect(OpaqueID(high: .max, low: .max).uuid == "ffffffff-ffff-8fff-bfff-ffffffffffff")
  }
}
