import APNs
import ArgumentParsing
import EventLoop
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import TLS

/// Everything that a run needs, checked before the first byte leaves: from here on only devices and network can fail.
struct SendPlan: Sendable {
  let head: APNsHead
  let content: SendContent
  let list: DeviceList
  let apnsID: APNsID?
  let credential: APNsCredential
  let endpoint: Endpoint
  let tls: TLSClientContext
  let proxy: ProxyEndpoint?
  let connections: Int
  let concurrency: Int
  let rate: Int?
  let repeats: Int
  let repeatsUnknown: Bool
  let timeout: Duration?
  let requestTimeout: Duration
  let journal: SendJournal?
  let isDryRun: Bool
  let warnings: [String]

  /// - Throws: `UsageError` or the errors of key, payload and journal, all of them the user's to mend.
  init(_ command: ParsedCommand, _ context: CommandContext) throws {
    let format = try DeviceList.format(command)
    let (content, findings) = try SendContent.read(command, hasVariables: format.map { $0 != .tokens } ?? false)
    let (credential, keyWarnings) = try SendCredential.read(command, context)
    self.content = content
    self.credential = credential
    head = try PushHead.read(
      command, pushType: content.pushType, credential: credential, clock: context.clock)
    endpoint = try SendEndpoint.place(command)
    try credential.check(head, environment: try command.choice(SendOptions.environment, of: PushEnvironment.self))
    tls = try TLSClientContext(trust: try SendEndpoint.trust(command), credential: credential)
    let (proxy, proxyWarning) = try SendProxy.read(command, environment: context.environment, host: endpoint.host)
    self.proxy = proxy
    connections = try command.integer(SendOptions.connections, in: 1...64) ?? 1
    concurrency = try command.integer(SendOptions.concurrency, in: 1...64_000) ?? 1000
    rate = try command.integer(SendOptions.rate, in: 1...10_000_000)
    repeats = try command.integer(SendOptions.retry, in: 0...100) ?? 3
    repeatsUnknown = command.isSet(SendOptions.retryUnknown)
    timeout = try command.duration(SendOptions.timeout)
    requestTimeout = try command.duration(SendOptions.requestTimeout) ?? .seconds(30)
    isDryRun = command.isSet(SendOptions.dryRun)
    let (list, listWarnings) = try DeviceList.read(command, variables: content.variables)
    self.list = list
    warnings = keyWarnings + [proxyWarning].compactMap { $0 } + findings + listWarnings
    apnsID = try Self.apnsID(command, list)
    journal =
      isDryRun ? nil : try Self.journal(command, context, list: list, content: content, head: head, endpoint: endpoint)
  }

  /// The run's head with a line's own collapse id; `nil` for one that was refused before.
  func head(collapseID: String) -> APNsHead? {
    do {
      return try APNsHead(
        topic: head.topic, pushType: head.pushType, priority: head.priority, expiration: head.expiration,
        collapseID: collapseID)
    } catch {
      return nil
    }
  }

  private static func apnsID(_ command: ParsedCommand, _ list: DeviceList) throws -> APNsID? {
    guard let text = command.value(SendOptions.apnsID) else { return nil }
    guard list.isSingle, case .listed = list.source else {
      throw UsageError("--apns-id goes with exactly one --device: two pushes must not have the same id.")
    }
    return try APNsID(checking: text)
  }

  private static func journal(
    _ command: ParsedCommand, _ context: CommandContext, list: DeviceList, content: SendContent, head: APNsHead,
    endpoint: Endpoint
  ) throws -> SendJournal? {
    guard let path = command.value(SendOptions.resume) else { return nil }
    let headers = head.headers.filter { $0.name != "apns-expiration" }.map { "\($0.name): \($0.value)" }
    // As it was given: `+1h` is another moment in each run, and the same wish.
    let expiration = command.value(SendOptions.expiration) ?? ""
    let text = (headers + ["expiration: \(expiration)", endpoint.description]).joined(separator: "\n")
    let digest = try SendDigest.make(list: list, parts: [content.source, Array(text.utf8)])
    return try SendJournal(
      path, digest: digest, lastLine: list.lastLine ?? 0, reopensUnknown: command.isSet(SendOptions.retryUnknown),
      randomness: context.randomness, clock: context.clock)
  }
}
