import Commands

@main
struct Pabal {
  static func main() {
    CommandProcess.run()
  }
}
