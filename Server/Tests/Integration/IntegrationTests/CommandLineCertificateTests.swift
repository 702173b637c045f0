import PabalPrimitives
import TestSupport
import Testing

/// A certificate in place of a signing key.
@Suite struct CommandLineCertificateTests {
  @Test func aCertificateIsShownToAPNs() async throws {
    try await withCommandStage { stage in
      let place = ["--endpoint", try stage.apns("sandbox"), "--ca", try stage.apns("caFile")]
      let push = ["--device", stage.tokens[0], "-b", "x"]
      let p12 = ["--p12", try stage.apns("p12File")]
      let pem = ["--cert", try stage.apns("certFile"), "--key", try stage.apns("certKeyFile")]
      for credential in [p12, pem] {
        // A certificate for one app tells its topic.
        let given = try await stage.pabal(
          ["send"] + credential + place + push + ["--topic", try stage.apns("topic"), "--json"])
        #expect(given.code == 0, "\(given.output)\(given.errors)")
      }
      #expect(try await stage.inbox().count == 2)
      #expect(try await stage.statistic("providerTokens") == 0, "no token beside a certificate")

      let foreign = try await stage.pabal(["send"] + p12 + place + push + ["--topic", "com.example.other"])
      #expect(foreign.code == 2)
      #expect(foreign.errors.contains("com.example.other"))
      #expect(try await stage.inbox().count == 2)
    }
  }

  @Test func whatCannotBeUsedIsRefusedBeforeTheFirstByte() async throws {
    try await withCommandStage { stage in
      let folder = stage.folder
      try TestFiles.write("hello", to: folder.file("text.p12"))
      try TestFiles.write("secret\n", to: folder.file("passphrase"))
      let place = ["--endpoint", try stage.apns("sandbox"), "--ca", try stage.apns("caFile"), "--topic", "a.b"]
      let push = ["--device", stage.tokens[0], "-b", "x"]
      let p12 = try stage.apns("p12File")
      let p8 = ["--p8", try stage.apns("keyFile"), "--key-id", try stage.apns("keyId"), "--team", "PABALDEMO1"]
      let cases: [([String], String)] = [
        (p8 + ["--p12", p12], "--p8 or --p12, not both"),
        (["--p12", p12, "--team", "PABALDEMO1"], "--team goes with --p8"),
        (["--p12", p12, "--key", p12], "--key goes with --cert"),
        (p8 + ["--passphrase-file", folder.file("passphrase")], "--passphrase-file goes with --p12"),
        (["--p12", folder.file("text.p12")], "text.p12"), (["--p12", folder.file("absent")], "no such file"),
        (["--p12", folder.path], "is a directory"), (["--cert", folder.file("text.p12")], "text.p12"),
        (["--p12", p12, "--passphrase-file", folder.file("passphrase")], "passphrase"),
        (["--p12", p12, "--passphrase-file", "-", "--devices-file", "-"], "Standard input cannot be the passphrase"),
        ([], "--p8 is missing"),
      ]
      for (credential, expected) in cases {
        let target = credential.contains("--devices-file") ? ["-b", "x"] : push
        let result = try await stage.pabal(["send"] + credential + place + target)
        #expect(result.code == 2, "\(credential.suffix(2)): \(result.errors)")
        #expect(result.errors.contains(expected), "\(expected) is not in: \(result.errors)")
        #expect(!result.errors.contains("secret"))
      }
      let unknown = try await stage.pabal(["send", "--passphrase", "secret"])
      #expect(unknown.code == 2 && !unknown.errors.contains("secret"), "never a flag's value")
      #expect(try await stage.requests().isEmpty)
    }
  }
}
