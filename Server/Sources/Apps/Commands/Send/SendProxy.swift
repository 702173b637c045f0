package import ArgumentParsing
package import HTTP2Connections

/// The way to APNs: `--proxy`, else what the environment says.
package enum SendProxy {
  /// - Returns: the proxy, and a warning about where its password stands; `nil`: none.
  /// - Throws: `usage` for a text that is no proxy's address.
  static func read(
    _ command: ParsedCommand, environment: [String: String], host: String
  ) throws(UsageError) -> (ProxyEndpoint?, String?) {
    if let text = command.value(SendOptions.proxy) {
      let proxy = try parse(text, name: "--proxy")
      let isTold = proxy.credentials != nil
      return (
        proxy,
        isTold ? "the proxy's password stands in the shell's history; the variable HTTPS_PROXY keeps it out." : nil
      )
    }
    return (try find(environment: environment, host: host), nil)
  }

  /// `HTTPS_PROXY`, or `https_proxy`, unless `NO_PROXY`, or `no_proxy`, names the host. A loopback address needs none.
  package static func find(environment: [String: String], host: String) throws(UsageError) -> ProxyEndpoint? {
    let named = ["HTTPS_PROXY", "https_proxy"].first { !(environment[$0] ?? "").isEmpty }
    guard let named, let text = environment[named], !isExempt(host, environment) else { return nil }
    return try parse(text, name: named)
  }

  private static func parse(_ text: String, name: String) throws(UsageError) -> ProxyEndpoint {
    do throws(ProxyTextError) {
      return try ProxyEndpoint(parsing: text)
    } catch {
      throw UsageError("\(name): \(error.message)", code: error.code)
    }
  }

  /// Names and their subdomains, separated by commas; `*` is every host. As in curl and Go.
  private static func isExempt(_ host: String, _ environment: [String: String]) -> Bool {
    let host = host.lowercased()
    if host == "localhost" || host == "::1" || isLoopback(host) { return true }
    let list = ["NO_PROXY", "no_proxy"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    return list.split(whereSeparator: { $0 == "," || $0 == " " }).contains { entry in
      var name = entry.lowercased()[...]
      if name == "*" { return true }
      // A port narrows an entry to what is reached there; APNs is reached by name.
      if name.filter({ $0 == ":" }).count == 1, let colon = name.firstIndex(of: ":") { name = name[..<colon] }
      if name.hasPrefix("*.") { name = name.dropFirst(2) }
      if name.hasPrefix(".") { name = name.dropFirst() }
      return !name.isEmpty && (host == name || host.hasSuffix("." + name))
    }
  }

  private static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
