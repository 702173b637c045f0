import Cryptography
import PabalPrimitives
import TestSupport
import Testing

/// Our provider token, read by somebody else's library.
@Suite struct ProviderTokenPeerTests {
  @Test func PyJWTVerifiesWhatJWTMakePrints() async throws {
    let folder = try TemporaryFolder()
    let key = folder.file("AuthKey_KEY1234567.p8")
    try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: key)
    let made = try await ChildProcess.run(
      try TestFiles.pabal(), ["jwt", "make", "--p8", key, "--team", "TEAM123456"],
      environment: CommandStage.environment(folder))
    #expect(made.code == 0, "\(made.errors)")
    let program = """
      import json, sys, time, jwt
      from cryptography.hazmat.primitives.serialization import load_pem_private_key
      key = load_pem_private_key(open(sys.argv[1], 'rb').read(), None)
      token = sys.stdin.read().strip()
      claims = jwt.decode(token, key.public_key(), algorithms=['ES256'])
      assert abs(time.time() - claims['iat']) < 600
      print(json.dumps({'header': jwt.get_unverified_header(token), 'iss': claims['iss'], 'names': sorted(claims)}))
      """
    let read = try await ChildProcess.run(
      try TestFiles.peerPython(), ["-c", program, key], input: Array(made.output.utf8))
    #expect(read.code == 0, "\(read.errors)")
    let object = try #require(try read.objects().first)
    #expect(object["header"]?["alg"]?.string == "ES256")
    #expect(object["header"]?["kid"]?.string == "KEY1234567")
    #expect(object["iss"]?.string == "TEAM123456")
    #expect(object["names"]?.elements.compactMap(\.string) == ["iat", "iss"])
    let again = try await ChildProcess.run(
      try TestFiles.pabal(), ["jwt", "make", "--p8", key, "--team", "TEAM123456"],
      environment: CommandStage.environment(folder))
    #expect(again.output == made.output)
  }
}
