import Observability
import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// What Prometheus' own libraries tell of a process, under the same names.
enum ProcessMetrics {
  private static let cpu = "process_cpu_seconds_total"
  private static let memory = "process_resident_memory_bytes"
  private static let start = "process_start_time_seconds"

  static func add(to metrics: Metrics, startedAt: WallTime) {
    metrics.declare(Metrics.Declaration(cpu, .counter, help: "Processor time, user and system."))
    metrics.declare(Metrics.Declaration(memory, .gauge, help: "Resident memory; where unknown, its maximum."))
    metrics.declare(Metrics.Declaration(start, .gauge, help: "Start, seconds since 1970."))
    metrics.set(start, to: Double(startedAt.milliseconds) / 1_000)
    metrics.onCollect { metrics in
      var usage = rusage()
      #if canImport(Darwin)
      let known = getrusage(RUSAGE_SELF, &usage) == 0
      let maximum = Double(usage.ru_maxrss)
      #else
      let known = getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0
      let maximum = Double(usage.ru_maxrss) * 1_024
      #endif
      guard known else { return }
      metrics.set(cpu, to: seconds(usage.ru_utime) + seconds(usage.ru_stime))
      metrics.set(memory, to: residentBytes() ?? maximum)
    }
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
  }

  /// From Linux' `/proc/self/statm`: its second word, in pages.
  private static func residentBytes() -> Double? {
    do {
      let words = try DataFolder.read("/proc/self/statm")?.split(separator: " ") ?? []
      return words.count > 1 ? Double(words[1]).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) } : nil
    } catch {
      return nil
    }
  }
}
