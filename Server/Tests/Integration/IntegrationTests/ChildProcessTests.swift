import TestSupport
import Testing

/// What the other tests stand on.
@Suite struct ChildProcessTests {
  @Test func `a child that ends without reading costs nothing but its input`() async throws {
    let much = [UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20)
    let result = try await ChildProcess.run("/bin/sh", ["-c", "echo said; echo wrong >&2; exit 3"], input: much)
    #expect(result.code == 3)
    #expect(result.lines == ["said"])
    #expect(result.errors == "wrong\n")
  }

  @Test func `input longer than a pipe holds comes through whole`() async throws {
    let much = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    let result = try await ChildProcess.run("/bin/sh", ["-c", "wc -c"], input: much)
    #expect(result.output.filter(\.isNumber) == "\(1 << 20)")
  }

  @Test func `the end by a signal is told as shells tell it`() async throws {
    let child = try ChildProcess("/bin/sh", ["-c", "echo up; read line"], keepsInputOpen: true)
    #expect(await child.line(0) == "up")
    child.signal(15)
    #expect(await child.result().code == 128 + 15)
    // Its number may be another process's by now.
    child.signal(9)
  }

  @Test func `an environment of its own still tells where temporary files go`() async throws {
    let result = try await ChildProcess.run(
      "/bin/sh", ["-c", "echo $ONLY ${HOME-none}"], environment: ["ONLY": "this"])
    #expect(result.lines == ["this none"])
  }
}
