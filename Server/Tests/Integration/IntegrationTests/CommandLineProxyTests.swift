import PabalPrimitives
import TestSupport
import Testing

/// The way through an HTTP proxy.
@Suite struct CommandLineProxyTests {
  /// Prints its port, then one line for each CONNECT; demands a password when it is given one. It finds the name
  /// apns.test at this machine; when it is given a number, only after so many seconds from the first time it is asked.
  private static let proxy = """
    import base64, socket, sys, threading, time
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
    outage = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    asked = []
    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)

    def pump(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def serve(client):
        head = b""
        while b"\\r\\n\\r\\n" not in head:
            head += client.recv(4096)
        lines = head.decode().split("\\r\\n")
        host, port = lines[0].split(" ")[1].rsplit(":", 1)
        given = [line.split(" ")[-1] for line in lines if line.lower().startswith("proxy-authorization:")]
        if wanted and given != [base64.b64encode(wanted.encode()).decode()]:
            print("refused", flush=True)
            client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\\r\\nContent-Length: 0\\r\\n\\r\\n")
            client.close()
            return
        asked.append(time.monotonic())
        if asked[-1] - asked[0] < outage:
            print("unresolved", host, flush=True)
            client.sendall(b"HTTP/1.1 502 Bad Gateway\\r\\nContent-Length: 0\\r\\n\\r\\n")
            client.close()
            return
        print("connect", host, port, flush=True)
        target = socket.create_connection(("127.0.0.1" if host == "apns.test" else host, int(port)))
        client.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
        threading.Thread(target=pump, args=(target, client), daemon=True).start()
        pump(client, target)

    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
    """

  @Test func aTunnelLeadsThroughTheProxy() async throws {
    try await withCommandStage { stage in
      let proxy = try ChildProcess(try TestFiles.peerPython(), ["-c", Self.proxy, "u@:p w"])
      let port = try #require(await proxy.line(0))
      let push = ["send"] + (try stage.target()) + ["--device", stage.tokens[0], "-b", "x"]
      let endpoint = try stage.apns("sandbox").dropFirst("https://".count).split(separator: ":")

      let through = try await stage.pabal(push + ["--proxy", "http://u%40:p%20w@127.0.0.1:\(port)"])
      #expect(through.code == 0, "\(through.errors)")
      #expect(await proxy.line(1) == "connect \(endpoint[0]) \(endpoint[1])")
      #expect(through.errors.contains("HTTPS_PROXY"), "a password in the shell's history is told of")
      #expect(!through.errors.contains("p%20w"))

      let refused = try await stage.pabal(push + ["--proxy", "http://127.0.0.1:\(port)", "--retry", "0"])
      #expect(refused.code == 7)
      #expect(refused.errors.contains("No connection came up"))
      #expect(await proxy.line(2) == "refused")

      // What is on this machine needs no proxy, whatever the environment says.
      let direct = try await ChildProcess.run(
        try TestFiles.pabal(), push,
        environment: stage.environment.merging(["HTTPS_PROXY": "http://127.0.0.1:1"]) { $1 })
      #expect(direct.code == 0, "\(direct.errors)")
      #expect(try await stage.inbox().count == 2)
      proxy.signal(9)
      _ = await proxy.result()
    }
  }

  /// Of the case's three providers APNs alone is here; the one that resolves names for this command is its proxy.
  @Test("OC-88 names cannot be resolved for the first 5 s: all are delivered afterwards, none of them twice")
  func nameResolutionFailsAtTheStart() async throws {
    let folder = try TemporaryFolder()
    let environment = CommandStage.environment(folder)
    let standIn = try ChildProcess(
      try TestFiles.pabal(),
      [
        "sim", "serve", "--sandbox-port", "0", "--production-port", "0", "--control-port", "0", "--devices", "3",
        "--san", "apns.test", "--data", folder.file("sim"), "--json",
      ], environment: environment, keepsInputOpen: true)
    let ready = try JSONSlice(parsing: Array(try #require(await standIn.line(0)).utf8))
    let apns = { (name: String) in try #require(ready["apns"]?[name]?.string) }
    let tokens = (ready["devices"]?.elements ?? []).compactMap { $0["token"]?.string }
    let proxies = try ["5", "3600"].map { try ChildProcess(try TestFiles.peerPython(), ["-c", Self.proxy, "", $0]) }
    var ways: [[String]] = []
    for proxy in proxies { ways.append(["--proxy", "http://127.0.0.1:\(try #require(await proxy.line(0)))"]) }
    let push = try [
      "send", "--p8", apns("keyFile"), "--key-id", apns("keyId"), "--team", apns("teamId"), "--topic", apns("topic"),
      "--endpoint", "https://apns.test:\(try #require(apns("sandbox").split(separator: ":").last))", "--ca",
      apns("caFile"), "-b", "x", "--json", "--device",
    ]
    let control = try ServerCaller(try #require(ready["control"]?.string))

    // As often as --retry says, and then it is the user's turn; nothing was written.
    let impatient = try await ChildProcess.run(
      try TestFiles.pabal(), push + [tokens[0], "--retry", "0"] + ways[1], environment: environment)
    #expect(impatient.code == 7, "\(impatient.errors)")
    #expect(try impatient.objects().first?["reason"]?.string == "provider_unreachable")
    #expect(try await control("GET", "/v1/simulator/stats").json()["connections"]?.int == 0)

    let result = try await ChildProcess.run(
      try TestFiles.pabal(), push + tokens + ["--timeout", "10m"] + ways[0], environment: environment)
    #expect(result.code == 0, "\(result.errors)")
    let outcomes = try result.objects().dropLast()
    #expect(outcomes.compactMap { $0["state"]?.string } == ["accepted", "accepted", "accepted"])
    #expect(outcomes.allSatisfy { $0["attempts"]?.int == 1 }, "what no byte was written of was not tried yet")
    let stats = try await control("GET", "/v1/simulator/stats").json()
    #expect(stats["taken"]?.int == 3 && stats["requests"]?.int == 3)
    for proxy in proxies {
      #expect(await proxy.line(1) == "unresolved apns.test")
      proxy.signal(9)
      _ = await proxy.result()
    }
    standIn.closeInput()
    #expect(await standIn.result().code == 0)
  }
}
