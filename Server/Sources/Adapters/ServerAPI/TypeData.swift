import Delivery
import HTTPServer
import PabalPrimitives

/// The values that a type's templates ask for, read from a request by the type's own parameters.
enum TypeData {
  /// - Parameter values: from parameter name to the value given, nil when absent or null.
  /// - Throws: `parameter_missing` or `parameter_invalid`, with the member's full name.
  static func read(
    _ type: NotificationType, name: (String) -> String, value: (String) -> JSONSlice?
  ) throws(APIError) -> [String: TemplateValue] {
    var data: [String: TemplateValue] = [:]
    for parameter in type.parameters {
      guard let given = value(parameter.name), !given.isNull, !(given.string?.isEmpty ?? false) else {
        if parameter.isRequired { throw .missing(name(parameter.name)) }
        continue
      }
      data[parameter.name] = try check(given, parameter, name(parameter.name))
    }
    return data
  }

  private static func check(
    _ given: JSONSlice, _ parameter: NotificationType.Parameter, _ name: String
  ) throws(APIError) -> TemplateValue {
    switch parameter.kind {
    case .string:
      // Many backends send ids as numbers.
      guard let text = given.string ?? given.int.map(String.init) else { throw .invalid(name, "must be a string") }
      return .text(text)
    case .integer:
      guard let number = given.int else { throw .invalid(name, "must be a whole number") }
      guard number >= parameter.minimum ?? .min, number <= parameter.maximum ?? .max else {
        let bounds = [parameter.minimum.map { "at least \($0)" }, parameter.maximum.map { "at most \($0)" }]
        throw .invalid(name, "must be \(bounds.compactMap { $0 }.joined(separator: " and "))")
      }
      return .number(number)
    }
  }
}
