internal import PabalPrimitives

/// The numbers of one process: counters, gauges and histograms with closed label sets.
///
/// A metric is declared once, with its help text and label names; values of labels come from closed sets, never from
/// users, devices, tokens or texts. `text` is the Prometheus exposition format, version 0.0.4.
package final class Metrics: Sendable {
  /// What a metric counts: events, a state of now, or a distribution.
  package enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  /// One declared metric.
  package struct Declaration: Sendable {
    package let name: String
    package let kind: Kind
    package let help: String
    package let labels: [String]
    /// Upper bounds of a histogram, ascending, without infinity.
    package let buckets: [Double]

    package init(_ name: String, _ kind: Kind, help: String, labels: [String] = [], buckets: [Double] = []) {
      self.name = name
      self.kind = kind
      self.help = help
      self.labels = labels
      self.buckets = buckets
    }
  }

  private struct Series {
    var value = 0.0
    var bucketCounts: [UInt64]
    var count: UInt64 = 0
  }

  private struct Family {
    let declaration: Declaration
    var series: [[String]: Series] = [:]
  }

  private struct State {
    var families: [String: Family] = [:]
    var droppedSeries: UInt64 = 0
    var collectors: [@Sendable (Metrics) -> Void] = []
  }

  private let state = Locked(State())

  package init(_ declarations: [Declaration] = []) {
    for declaration in declarations { declare(declaration) }
  }

  /// Declaring the same name again changes nothing.
  package func declare(_ declaration: Declaration) {
    state.withLock { state in
      guard state.families[declaration.name] == nil else { return }
      var family = Family(declaration: declaration)
      if declaration.labels.isEmpty {
        family.series[[]] = Series(bucketCounts: Array(repeating: 0, count: declaration.buckets.count))
      }
      state.families[declaration.name] = family
    }
  }

  /// Runs `collect` before each `text`, for gauges that are read rather than kept.
  package func onCollect(_ collect: @escaping @Sendable (Metrics) -> Void) {
    state.withLock { $0.collectors.append(collect) }
  }

  /// Adds to a counter or gauge. Stops the process when the metric or the number of labels was not declared.
  package func add(_ amount: Double = 1, to name: String, _ labels: [String] = []) {
    change(name, labels) { $0.value += amount }
  }

  /// Sets a gauge.
  package func set(_ name: String, _ labels: [String] = [], to value: Double) {
    change(name, labels) { $0.value = value }
  }

  /// Takes one value into a histogram.
  package func observe(_ value: Double, in name: String, _ labels: [String] = []) {
    change(name, labels) { series, declaration in
      series.value += value
      series.count += 1
      if let index = declaration.buckets.firstIndex(where: { value <= $0 }) { series.bucketCounts[index] += 1 }
    }
  }

  /// For tests and status pages.
  package func value(of name: String, _ labels: [String] = []) -> Double? {
    state.withLock { $0.families[name]?.series[labels]?.value }
  }

  package var declarations: [Declaration] {
    state.withLock { $0.families.values.map(\.declaration).sorted { $0.name < $1.name } }
  }

  private func change(_ name: String, _ labels: [String], _ body: (inout Series) -> Void) {
    change(name, labels) { series, _ in body(&series) }
  }

  private func change(_ name: String, _ labels: [String], _ body: (inout Series, Declaration) -> Void) {
    state.withLock { state in
      guard let declaration = state.families[name]?.declaration, declaration.labels.count == labels.count else {
        preconditionFailure("metric \(name) is not declared with \(labels.count) labels")
      }
      let series = state.families[name]?.series[labels]
      guard series != nil || (state.families[name]?.series.count ?? 0) < Self.seriesLimit else {
        state.droppedSeries += 1
        return
      }
      var changed = series ?? Series(bucketCounts: Array(repeating: 0, count: declaration.buckets.count))
      body(&changed, declaration)
      state.families[name]?.series[labels] = changed
    }
  }

  /// A closed label set has far fewer; the limit keeps a mistake from filling memory.
  private static let seriesLimit = 1000
}

extension Metrics {
  /// All metrics in the Prometheus text format.
  package var text: String {
    for collect in state.withLock({ $0.collectors }) { collect(self) }
    let families = state.withLock { $0.families.values.sorted { $0.declaration.name < $1.declaration.name } }
    return families.map(Self.expose).joined() + Self.exposeDropped(state.withLock { $0.droppedSeries })
  }

  /// Says that numbers are missing; nothing when none is.
  private static func exposeDropped(_ count: UInt64) -> String {
    guard count > 0 else { return "" }
    var family = Family(
      declaration: Declaration(
        "pabal_metrics_dropped_total", .counter, help: "Changes of series beyond the limit of a metric."))
    family.series[[]] = Series(value: Double(count), bucketCounts: [])
    return expose(family)
  }

  private static func expose(_ family: Family) -> String {
    let declaration = family.declaration
    var lines = [
      "# HELP \(declaration.name) \(declaration.help)", "# TYPE \(declaration.name) \(declaration.kind.rawValue)",
    ]
    for (values, series) in family.series.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let labels = Array(zip(declaration.labels, values))
      guard declaration.kind == .histogram else {
        lines.append("\(declaration.name)\(spell(labels)) \(spell(series.value))")
        continue
      }
      var running: UInt64 = 0
      for (bound, count) in zip(declaration.buckets, series.bucketCounts) {
        running += count
        lines.append("\(declaration.name)_bucket\(spell(labels + [("le", spell(bound))])) \(running)")
      }
      lines.append("\(declaration.name)_bucket\(spell(labels + [("le", "+Inf")])) \(series.count)")
      lines.append("\(declaration.name)_sum\(spell(labels)) \(spell(series.value))")
      lines.append("\(declaration.name)_count\(spell(labels)) \(series.count)")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func spell(_ labels: [(String, String)]) -> String {
    guard !labels.isEmpty else { return "" }
    let pairs = labels.map { name, value in "\(name)=\"\(escape(value))\"" }
    return "{" + pairs.joined(separator: ",") + "}"
  }

  private static func escape(_ value: String) -> String {
    value.flatMap { character -> String in
      switch character {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "\n": "\\n"
      default: String(character)
      }
    }.map(String.init).joined()
  }

  private static func spell(_ number: Double) -> String {
    number.rounded() == number && number.magnitude < 1e15 ? String(Int64(number)) : String(number)
  }
}
