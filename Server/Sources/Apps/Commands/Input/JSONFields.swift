import ArgumentParsing
import PabalPrimitives

/// The fields of `--json=id,state`: only these members of each object are printed, in this order.
struct JSONFields {
  let names: [String]

  init(_ text: String) throws(UsageError) {
    names = text.split(separator: ",").map { String($0.filter { $0 != " " }) }
    guard !names.isEmpty, !names.contains("") else {
      throw UsageError("--json=FIELDS needs names such as --json=line,state, found '\(text)'.")
    }
  }

  /// Members that an object does not have are left out.
  func pick(from object: [UInt8]) -> [UInt8] {
    do {
      let whole = try JSONSlice(parsing: object)
      return JSONValue.object(names.compactMap { name in whole[name].map { JSONMember(name, JSONValue($0)) } }).encoded
    } catch {
      // Our own objects are valid JSON; anything else is handed on as it came.
      return object
    }
  }
}
