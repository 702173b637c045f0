import Dispatch
import FuzzTargets

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The target that `PABAL_FUZZ_TARGET` names.
private let target: FuzzTarget = {
  let name = getenv("PABAL_FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let target = FuzzTarget(rawValue: name) else {
    preconditionFailure("PABAL_FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue))")
  }
  return target
}()

/// libFuzzer's entry point; a finding stops the process, and libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do {
    // A hand-over to another thread for each input would be nearly all of the time.
    if try target.runAtOnce(bytes) { return 0 }
  } catch {
    stop(error)
  }
  let done = DispatchSemaphore(value: 0)
  Task {
    do {
      try await target.run(bytes)
    } catch {
      stop(error)
    }
    done.signal()
  }
  done.wait()
  return 0
}

/// Optimised code does not print what a precondition says.
private func stop(_ error: any Error) -> Never {
  let line = Array("FuzzFinding: \(error)\n".utf8)
  _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  abort()
}
