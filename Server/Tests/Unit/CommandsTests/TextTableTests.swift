import Commands
import Testing

@Suite struct TextTableTests {
  @Test(arguments: [
    ("abc", 3), ("한글", 4), ("가b", 3), ("👍🏽", 2), ("🇰🇷", 2), ("e\u{301}", 1), ("\u{7}", 0), ("☎\u{FE0F}", 2), ("", 0),
  ])
  func cells(text: String, width: Int) {
    #expect(DisplayWidth.of(text) == width)
  }

  @Test func cutsAtGraphemes() {
    #expect(DisplayWidth.cut("한글이름", to: 8) == "한글이름")
    #expect(DisplayWidth.cut("한글이름", to: 6) == "한글…")
    #expect(DisplayWidth.cut("👍🏽👍🏽", to: 3) == "👍🏽…")
    #expect(DisplayWidth.cut("abc", to: 0) == "")
  }

  @Test func alignsForTerminalsByCells() {
    var table = TextTable(["USER", "STATE"])
    table.add(["지원", "accepted"])
    table.add(["a\tb\n", "rejected"])
    #expect(
      table.render(for: Terminal(isTerminal: true, width: 12))
        == "USER  STATE\n지원  accep…\na b   rejec…\n")
    #expect(table.render(for: Terminal(isTerminal: false)) == "USER\tSTATE\n지원\taccepted\na b \trejected\n")
  }

  @Test func marksAreNeverColourAlone() {
    #expect(Terminal(isTerminal: true, hasColor: false).mark(.good) == "✓")
    #expect(Terminal(isTerminal: true, hasColor: true).mark(.bad) == "\u{1B}[31m✗\u{1B}[0m")
    #expect(Terminal(isTerminal: true, hasUnicode: false).mark(.good) == "+")
    let plain = Terminal(file: -1, environment: ["NO_COLOR": "1", "LANG": "C"])
    #expect(!plain.hasColor && !plain.hasUnicode && !plain.isTerminal && plain.width == 80)
    #expect(Terminal(file: -1, environment: ["CLICOLOR_FORCE": "1", "LANG": "ko_KR.UTF-8"]).hasColor)
  }

  @Test func languages() {
    #expect(CommandLanguage(environment: ["LANG": "ko_KR.UTF-8"]) == .ko)
    #expect(CommandLanguage(environment: ["LANG": "ko_KR.UTF-8", "PABAL_LANG": "en"]) == .en)
    #expect(CommandLanguage(environment: ["LC_ALL": "", "LANG": "de_DE"]) == .en)
  }
}
