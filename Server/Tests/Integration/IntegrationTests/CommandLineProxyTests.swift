import PabalPrimitives
import TestSupport
import Testing

/// The way through an HTTP proxy.
@Suite struct CommandLineProxyTests {
  /// Prints its port, then one line for each CONNECT; demands a password when it is given one.
  private static let proxy = """
    import base64, socket, sys, threading
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
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
        print("connect", host, port, flush=True)
        target = socket.create_connection((host, int(port)))
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
}
