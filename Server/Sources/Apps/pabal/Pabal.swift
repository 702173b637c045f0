import Commands

@main
struct Pabal {
  static func main() async {
    await CommandProcess.run()
  }
}
