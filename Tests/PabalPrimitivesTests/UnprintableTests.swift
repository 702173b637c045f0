import PabalPrimitives
import Testing

@Suite struct UnprintableTests {
  private struct Credential: Unprintable {
    let secret = "hunter2"
  }

  private struct Holder {
    let name = "plain"
    let credential: Credential? = Credential()
    let list = [Credential()]
  }

  @Test func `neither printing nor dumping shows what is inside, at any depth`() {
    var dumped = ""
    dump(Holder(), to: &dumped)
    dump(Credential(), to: &dumped)
    let texts = [
      "\(Credential())", String(reflecting: Credential()), "\(Holder())", String(reflecting: Holder()), dumped,
    ]
    for text in texts {
      #expect(!text.contains("hunter2"))
      #expect(text.contains("Credential"))
    }
    #expect(dumped.contains("plain"))
  }
}
