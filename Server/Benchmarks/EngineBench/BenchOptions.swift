/// `EngineBench --host H --port P --ca FILE --tokens FILE --payload FILE --count N [--connections N] [--in-flight N]
/// [--batch N] [--tasks N]`
struct BenchOptions {
  var host = "localhost"
  var port: UInt16 = 0
  var authority = ""
  var tokens = ""
  var payload = ""
  var count = 1
  var connections = 1
  var inFlight = 1000
  var batch = 500
  var tasks = 8

  init(_ arguments: some Collection<String>) throws {
    var rest = Array(arguments)[...]
    while let flag = rest.popFirst() {
      guard let value = rest.popFirst() else { throw BenchFault("\(flag) needs a value") }
      switch flag {
      case "--host": host = value
      case "--port": port = UInt16(try Self.number(flag, value))
      case "--ca": authority = value
      case "--tokens": tokens = value
      case "--payload": payload = value
      case "--count": count = try Self.number(flag, value)
      case "--connections": connections = try Self.number(flag, value)
      case "--in-flight": inFlight = try Self.number(flag, value)
      case "--batch": batch = try Self.number(flag, value)
      case "--tasks": tasks = try Self.number(flag, value)
      default: throw BenchFault("there is no flag \(flag)")
      }
    }
    guard port != 0, !authority.isEmpty, !tokens.isEmpty, !payload.isEmpty else {
      throw BenchFault("--port, --ca, --tokens and --payload are needed")
    }
  }

  private static func number(_ flag: String, _ value: String) throws -> Int {
    guard let number = Int(value), (1...10_000_000).contains(number) else {
      throw BenchFault("\(flag) must be a number from 1, found \(value)")
    }
    return number
  }
}
