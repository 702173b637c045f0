import APNs
import ArgumentParsing
import Commands
import PabalPrimitives
import ServerAPI
import TestSupport
import Testing

/// What `pabal explain` knows. The whole of it, in both languages, is the snapshot docs/errors.md.
@Suite struct GlossaryTests {
  /// The vocabulary of the product's reasons.
  private static let vocabulary = [
    "user_unknown", "not_in_audience", "excluded", "holdout", "no_devices", "platform_excluded",
    "app_version_excluded", "device_inactive", "device_unregistered", "device_reassigned", "environment_mismatch",
    "os_permission_denied", "preference_off", "topic_unsubscribed", "consent_missing", "night_consent_missing",
    "duplicate", "quiet_hours", "frequency_capped", "rate_paced", "superseded", "message_paused", "message_canceled",
    "ttl_elapsed", "canary_halted", "variable_missing", "locale_missing", "payload_too_large", "payload_invalid",
    "apns.Unregistered", "apns.BadDeviceToken", "apns.DeviceTokenNotForTopic", "apns.ExpiredToken",
    "apns.InvalidProviderToken", "apns.BadEnvironmentKeyIdInToken", "apns.UnrelatedKeyIdInToken",
    "apns.TooManyProviderTokenUpdates", "apns.TooManyRequests", "fcm.UNREGISTERED", "fcm.SENDER_ID_MISMATCH",
    "fcm.QUOTA_EXCEEDED", "fcm.THIRD_PARTY_AUTH_ERROR", "credential_missing", "provider_unreachable", "breaker_open",
    "not_confirmed", "reply_lost", "interrupted", "device_token_invalid",
  ]

  @Test(arguments: vocabulary)
  func everyReasonIsExplainedInBothLanguages(code: String) async throws {
    let entry = try #require(Glossary.find(code))
    #expect(entry.code == code && entry.kind == .reason)
    let english = try await CapturedCommand.run(["explain", code])
    #expect(english.code == .done)
    #expect(english.output.contains("  what   \(entry.what.english)\n"))
    #expect(english.output.contains("  fault  \(entry.owner.sentence.english)\n"))
    #expect(english.output.contains("  do     \(entry.advice.english)\n"))
    let korean = try await CapturedCommand.run(["explain", code], environment: ["PABAL_LANG": "ko"])
    #expect(korean.output.contains("  무엇   \(entry.what.korean)\n"))
    #expect(korean.output.contains("  할 일  \(entry.advice.korean)\n"))
  }

  @Test(arguments: APNsReason.table.map(\.reason.rawValue))
  func everyWordOfApplesIsFoundAsApplesSpellsIt(word: String) throws {
    let entry = try #require(Glossary.find(word))
    #expect(entry.code == "apns.\(word)")
    #expect(entry.status == APNsReason.table.first { $0.reason.rawValue == word }?.status)
    #expect(Glossary.find(word.lowercased())?.code == entry.code)
  }

  @Test(arguments: [200, 400, 403, 404, 405, 410, 413, 429, 500, 503])
  func everyStatusOfApplesIsExplained(status: Int) throws {
    let entry = try #require(Glossary.find(String(status)))
    #expect(entry.kind == .status && entry.status == status)
    #expect(entry.related.count == APNsReason.table.count { $0.status == status })
    #expect(Glossary.find("apns.\(status)")?.code == entry.code)
  }

  /// Words that stand for one thing in two spellings.
  private static let families: [Set<String>] = [["apns.BadEnvironmentKeyIdInToken", "apns.BadEnvironmentKeyInToken"]]

  @Test func noTwoWordsShareTheirRemedy() {
    for language in [\Sentence.english, \Sentence.korean] {
      var owners: [String: String] = [:]
      for entry in Glossary.all {
        let advice = entry.advice[keyPath: language]
        if let other = owners[advice] {
          let isFamily = Self.families.contains { $0.isSuperset(of: [entry.code, other]) }
          #expect(isFamily, "\(entry.code) and \(other): \(advice)")
        }
        owners[advice] = entry.code
      }
    }
  }

  @Test func everyWordIsWholeInBothLanguages() {
    for entry in Glossary.all {
      for sentence in [entry.what, entry.why, entry.owner.sentence, entry.advice] {
        #expect(!sentence.english.isEmpty && !sentence.korean.isEmpty, "\(entry.code)")
        #expect(sentence.english != sentence.korean, "\(entry.code)")
      }
    }
    #expect(Set(Glossary.all.map(\.code)).count == Glossary.all.count)
  }

  @Test func objectsHoldBothLanguages() async throws {
    let object = try await CapturedCommand.run(["explain", "410", "--json"], environment: ["PABAL_LANG": "ko"]).json()
    #expect(object["code"]?.string == "410")
    #expect(object["do"]?["en"]?.string?.isEmpty == false)
    #expect(object["do"]?["ko"]?.string?.isEmpty == false)
    #expect(object["fault"]?["who"]?.string == "nobody")
    let fields = try await CapturedCommand.run(["explain", "410", "--json=status,code"])
    #expect(fields.output == "{\"status\":410,\"code\":\"410\"}\n")
  }

  @Test func theSnapshotInTheDocumentsIsCurrent() throws {
    let path = #filePath.split(separator: "/").dropLast(5).reduce("") { $0 + "/" + $1 } + "/docs/errors.md"
    let written = String(decoding: try TestFiles.read(path), as: UTF8.self)
    #expect(written == Manual.text(of: .errors), "docs/errors.md is not current: run `make docs`")
  }

  @Test func theListNamesEveryWord() async throws {
    let list = try await CapturedCommand.run(["explain", "--all", "--json"]).json()
    #expect(list["data"]?.elements.compactMap { $0["code"]?.string } == Glossary.all.map(\.code))
    #expect(try await CapturedCommand.run(["explain", "--all", "410"]).code == .usage)
    #expect(try await CapturedCommand.run(["explain"]).errors.contains("--all lists them"))
  }

  @Test func aMisspeltWordIsRecognised() async throws {
    let result = try await CapturedCommand.run(["explain", "apns.Unregisterd"])
    #expect(result.code == .usage)
    #expect(result.errors.contains("Did you mean apns.Unregistered?"))
  }
}
