/// Bounds of the file that gives the stand-in's devices their names again.
package enum StandInIndexLimits {
  /// Up to here nothing is looked through: it would cost more than the lines.
  package static let fewLines = 64
  /// Bytes that are read of it: twice the devices of one stand-in, each with the longest name.
  static let fileBytes = 256 << 20

  /// With more lines than this the dead ones are removed: they outnumber those that live.
  package static func lines(living count: Int) -> Int { max(fewLines, 2 * count) }
}
