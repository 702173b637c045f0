/// The stand-in's own parsers, for those who hold them against ours.
package enum StandInParsing {
  /// Whether `body` is one strict JSON object, nested at most `maximumDepth` deep.
  package static func isObject(_ body: [UInt8], maximumDepth: Int) -> Bool {
    do throws(StrictJSONScanner.Fault) {
      _ = try StrictJSONScanner.members(of: body, maximumDepth: maximumDepth)
      return true
    } catch {
      return false
    }
  }

  /// What a provider token says; `nil` when it is none. The signature is not verified.
  package static func providerToken(_ text: String) -> (keyID: String, teamID: String, issuedAt: Int64)? {
    do throws(ProviderTokenText.Fault) {
      let token = try ProviderTokenText(parsing: text[...])
      return (token.keyID, token.teamID, token.issuedAt)
    } catch {
      return nil
    }
  }
}
