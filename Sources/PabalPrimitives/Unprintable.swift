/// A value that holds a secret or a text: whoever interpolates, dumps or reflects it gets its type's name only.
///
/// It must stand in the inheritance clause of each type that holds such a value itself; what holds that type is then
/// safe as well, because printing goes down through `description` and `customMirror`.
public protocol Unprintable: CustomStringConvertible, CustomReflectable {}

extension Unprintable {
  public var description: String { "\(Self.self)(…)" }

  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
