@main
struct TalentMarketDemo {
  static func main() async {}
}
