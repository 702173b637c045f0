@main
struct Pabal {
  static func main() async {}
}
