import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A program that a test runs as a user would, with pipes on its three standard streams.
///
/// Whoever waits is suspended, not blocked: threads of this class's own read the pipes and wait for the end. A process
/// that still runs when the last reference goes is killed.
package final class ChildProcess: Sendable {
  package struct Result: Sendable {
    /// Exit code; 128 + signal when a signal ended it, as shells say it.
    package let code: Int
    package let output: String
    package let errors: String

    /// Lines of `output` without the last newline.
    package var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  package enum Stream: Sendable { case output, errors }

  fileprivate struct State: Sendable {
    var output: [UInt8] = []
    var errors: [UInt8] = []
    var openPipes = 2
    var code: Int?
    var waiters: [@Sendable (borrowing State) -> Bool] = []

    var isFinished: Bool { openPipes == 0 && code != nil }
  }

  private static let starting = OneAtATime()

  package let id: Int32
  private let input: Locked<Int32?>
  private let state: Locked<State>

  /// - Parameters:
  ///   - environment: `nil` for the tests' own. Where the run puts its temporary files and sanitizer reports is always
  ///     handed on.
  ///   - errorsAreTerminal: standard error is a pseudo-terminal, which writes a line's end as `\r\n`.
  ///   - input: written first; the pipe then stays open until `closeInput` when `keepsInputOpen`.
  package init(
    _ executable: String, _ arguments: [String], environment: [String: String]? = nil, folder: String? = nil,
    errorsAreTerminal: Bool = false, input: [UInt8] = [], keepsInputOpen: Bool = false
  ) throws {
    // One start at a time: between a pipe's making and its close-on-exec another child would inherit it, and whoever
    // waits for the end of this child's output would wait for that child too.
    let (child, stdin, stdout, stderr) = try Self.starting.run {
      let (stdin, stdout, stderr) = (try Pipe(), try Pipe(), errorsAreTerminal ? try Pipe.terminal() : try Pipe())
      let child = try Self.spawn(
        executable, arguments, environment: environment, folder: folder,
        streams: [stdin.reading, stdout.writing, stderr.writing])
      return (child, stdin, stdout, stderr)
    }
    id = child
    for end in [stdin.reading, stdout.writing, stderr.writing] { systemClose(end) }
    self.input = Locked(stdin.writing)
    let state = Locked(State())
    self.state = state
    OwnThread.start {
      Self.drain(stdout.reading) { bytes in
        state.update { $0.output += bytes }
      } ended: {
        state.closePipe()
      }
    }
    OwnThread.start {
      Self.drain(stderr.reading) { bytes in
        state.update { $0.errors += bytes }
      } ended: {
        state.closePipe()
      }
    }
    OwnThread.start {
      let code = Self.waitForEnd(child)
      state.update { $0.code = code }
    }
    if input.isEmpty {
      if !keepsInputOpen { closeInput() }
    } else {
      OwnThread.start { [pipe = self.input] in
        Self.write(input, to: pipe)
        if !keepsInputOpen { Self.close(pipe) }
      }
    }
  }

  deinit {
    // In this order: whoever still writes to the child holds the pipe until the child reads or ends.
    signal(SIGKILL)
    closeInput()
  }

  /// Runs to the end.
  package static func run(
    _ executable: String, _ arguments: [String], environment: [String: String]? = nil, folder: String? = nil,
    input: [UInt8] = []
  ) async throws -> Result {
    try await ChildProcess(executable, arguments, environment: environment, folder: folder, input: input).result()
  }

  /// Waits until the child has taken all; what it no longer wants is dropped.
  package func write(_ bytes: [UInt8]) {
    Self.write(bytes, to: input)
  }

  package func closeInput() {
    Self.close(input)
  }

  /// No effect on a child that has ended, whose number may be another's by now.
  package func signal(_ number: Int32) {
    state.withLock { if $0.code == nil { kill(id, number) } }
  }

  private static func write(_ bytes: [UInt8], to pipe: Locked<Int32?>) {
    pipe.withLock { input in
      guard let file = input else { return }
      withoutBrokenPipeSignal {
        var rest = bytes[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
          guard count > 0 else { return }
          rest = rest.dropFirst(count)
        }
      }
    }
  }

  private static func close(_ pipe: Locked<Int32?>) {
    pipe.withLock { input in
      if let file = input { systemClose(file) }
      input = nil
    }
  }

  /// Both streams at their ends and the exit code known.
  package func result() async -> Result {
    await reached { $0.isFinished }
    return state.withLock {
      Result(
        code: $0.code ?? -1, output: String(decoding: $0.output, as: UTF8.self),
        errors: String(decoding: $0.errors, as: UTF8.self))
    }
  }

  /// The complete line number `index` (from 0) of a stream; `nil` when it ended before.
  package func line(_ index: Int, of stream: Stream = .output) async -> String? {
    await reached { Self.line(index, of: stream, in: $0) != nil || $0.openPipes == 0 }
    return state.withLock { Self.line(index, of: stream, in: $0) }
  }

  /// Waits until a stream holds `text`; `false` when it ended without.
  package func holds(_ text: String, in stream: Stream) async -> Bool {
    await reached { Self.holds(text, in: stream, of: $0) || $0.openPipes == 0 }
    return state.withLock { Self.holds(text, in: stream, of: $0) }
  }

  private static func holds(_ text: String, in stream: Stream, of state: borrowing State) -> Bool {
    String(decoding: stream == .output ? state.output : state.errors, as: UTF8.self).contains(text)
  }

  private func reached(_ condition: @escaping @Sendable (borrowing State) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if condition(state) { return true }
        state.waiters.append { state in
          guard condition(state) else { return false }
          continuation.resume()
          return true
        }
        return false
      }
      if isReached { continuation.resume() }
    }
  }

  private static func line(_ index: Int, of stream: Stream, in state: borrowing State) -> String? {
    let bytes = stream == .output ? state.output : state.errors
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard index < lines.count - 1 else { return nil }
    return String(decoding: lines[index], as: UTF8.self)
  }

  private static func drain(
    _ file: Int32, _ take: ([UInt8]) -> Void, ended: () -> Void
  ) {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(file, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      take([UInt8](chunk.prefix(count)))
    }
    systemClose(file)
    ended()
  }

  private static func waitForEnd(_ child: Int32) -> Int {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? Int((status >> 8) & 0xFF) : 128 + Int(signal)
  }

  private static func spawn(
    _ executable: String, _ arguments: [String], environment: [String: String]?, folder: String?, streams: [Int32]
  ) throws -> Int32 {
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    #else
    var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, file) in streams.enumerated() { posix_spawn_file_actions_adddup2(&actions, file, Int32(number)) }
    // Setting the folder of a child is not in every libc's spawn, but in every shell.
    let command =
      folder.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0, executable] + arguments }
      ?? [executable] + arguments
    var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var attributes = try cleanAttributes()
    defer { posix_spawnattr_destroy(&attributes) }
    var child: pid_t = 0
    let status: Int32
    if let environment {
      let complete = inheritedVariables.merging(environment) { $1 }
      var pairs: [UnsafeMutablePointer<CChar>?] = complete.map { strdup("\($0.key)=\($0.value)") } + [nil]
      defer { pairs.forEach { free($0) } }
      status = posix_spawn(&child, command[0], &actions, &attributes, &words, &pairs)
    } else {
      status = posix_spawn(&child, command[0], &actions, &attributes, &words, environ)
    }
    guard status == 0 else { throw TestFiles.Failure(description: "cannot start \(executable): errno \(status)") }
    return child
  }

  private static let inheritedVariables: [String: String] = {
    let names = ["TMPDIR", "TSAN_OPTIONS", "ASAN_OPTIONS", "LSAN_OPTIONS"]
    return names.reduce(into: [:]) { result, name in result[name] = getenv(name).map { String(cString: $0) } }
  }()

  #if canImport(Darwin)
  private typealias SpawnAttributes = posix_spawnattr_t?
  #else
  private typealias SpawnAttributes = posix_spawnattr_t
  #endif

  /// No signal blocked: Dispatch blocks nearly all on the threads that tests run on, and a child that inherited that
  /// would never see SIGTERM.
  private static func cleanAttributes() throws -> SpawnAttributes {
    #if canImport(Darwin)
    var attributes: posix_spawnattr_t?
    #else
    var attributes = posix_spawnattr_t()
    #endif
    var none = sigset_t()
    sigemptyset(&none)
    guard posix_spawnattr_init(&attributes) == 0, posix_spawnattr_setsigmask(&attributes, &none) == 0,
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK)) == 0
    else { throw TestFiles.Failure(description: "cannot prepare a child process: errno \(errno)") }
    return attributes
  }

  private struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw TestFiles.Failure(description: "cannot make a pipe: errno \(errno)") }
      self.init(reading: ends[0], writing: ends[1])
    }

    private init(reading: Int32, writing: Int32) {
      for end in [reading, writing] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      self.reading = reading
      self.writing = writing
    }

    /// What is written to the terminal is read at its other side.
    static func terminal() throws -> Pipe {
      #if canImport(Darwin)
      let other = posix_openpt(O_RDWR | O_NOCTTY)
      let isUnlocked = other >= 0 && grantpt(other) == 0 && unlockpt(other) == 0
      let name = isUnlocked ? ptsname(other).map { String(cString: $0) } : nil
      #else
      // What posix_openpt(3) and its like do, which Glibc's module does not show (ioctl_tty(2): TIOCSPTLCK, TIOCGPTN).
      let other = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var (lock, number): (Int32, UInt32) = (0, 0)
      let isUnlocked = ioctl(other, 0x4004_5431, &lock) == 0 && ioctl(other, 0x8004_5430, &number) == 0
      let name = isUnlocked ? "/dev/pts/\(number)" : nil
      #endif
      guard let name else { throw TestFiles.Failure(description: "cannot make a terminal: errno \(errno)") }
      let terminal = open(name, O_RDWR | O_NOCTTY)
      guard terminal >= 0 else { throw TestFiles.Failure(description: "cannot open a terminal: errno \(errno)") }
      return Pipe(reading: other, writing: terminal)
    }
  }
}

extension Locked where Value == ChildProcess.State {
  fileprivate func update(_ change: (inout ChildProcess.State) -> Void) {
    withLock { state in
      change(&state)
      let snapshot = state
      state.waiters.removeAll { $0(snapshot) }
    }
  }

  fileprivate func closePipe() { update { $0.openPipes -= 1 } }
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, buffer, count)
}

@discardableResult
private func systemClose(_ file: Int32) -> Int32 { close(file) }

/// A child that ends before it has read all must not end the tests by SIGPIPE: the signal is held back on this thread
/// and taken away.
private func withoutBrokenPipeSignal(_ body: () -> Void) {
  var brokenPipe = sigset_t()
  var before = sigset_t()
  var pending = sigset_t()
  sigemptyset(&brokenPipe)
  sigaddset(&brokenPipe, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
  body()
  if sigpending(&pending) == 0, sigismember(&pending, SIGPIPE) == 1 {
    var number: Int32 = 0
    sigwait(&brokenPipe, &number)
  }
  pthread_sigmask(SIG_SETMASK, &before, nil)
}
