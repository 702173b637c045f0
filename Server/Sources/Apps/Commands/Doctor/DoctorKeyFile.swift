import APNs
import ArgumentParsing
import PabalPrimitives
import ServerAPI

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The key's file: readable, a key of the right kind, its ids well formed, and not open to everybody.
enum DoctorKeyFile {
  static func check(
    _ command: ParsedCommand, _ context: CommandContext
  ) -> (check: DoctorCheck, credential: APNsTokenCredential?) {
    do {
      let (credential, warning) = try SendCredential.token(command, environment: context.environment)
      if let warning {
        let advice = Sentence("Compare file name and --key-id.", "파일 이름과 --key-id를 비교하세요.")
        return (DoctorCheck("key_file", .warning, Sentence(warning, warning), do: advice), credential)
      }
      let path = command.value(SendOptions.p8) ?? ""
      if isOpen(path) {
        let check = DoctorCheck(
          "key_file", .warning,
          Sentence("\(path) can be read by other users of this machine.", "\(path) 파일을 이 컴퓨터의 다른 사용자도 읽을 수 있습니다."),
          do: Sentence("chmod 600 \(path)", "chmod 600 \(path)"))
        return (check, credential)
      }
      return (
        DoctorCheck("key_file", .ok, Sentence("\(path), a P-256 private key", "\(path), P-256 개인 키입니다")), credential
      )
    } catch let error as any CodedError {
      let advice = Sentence(
        "Give --p8, --team and, unless the file is called AuthKey_<ID>.p8, --key-id.",
        "--p8과 --team을, 파일 이름이 AuthKey_<ID>.p8이 아니면 --key-id도 주세요.")
      return (DoctorCheck("key_file", .failed, Sentence(error.message, error.message), do: advice), nil)
    } catch {
      return (DoctorCheck("key_file", .failed, Sentence("\(error)", "\(error)")), nil)
    }
  }

  /// Mode bits for group or others.
  private static func isOpen(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & 0o077 != 0
  }
}
