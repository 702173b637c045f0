import APNs
import ArgumentParsing
import PabalModel
import PabalPrimitives
import ServerAPI

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The file of key or certificate: readable, of the right kind, its ids well formed, and not open to everybody.
enum DoctorKeyFile {
  static func check(
    _ command: ParsedCommand, _ context: CommandContext
  ) -> (check: DoctorCheck, credential: APNsCredential?) {
    do {
      let (credential, warnings) = try SendCredential.read(command, context)
      guard warnings.isEmpty else {
        let words = warnings.joined(separator: " ")
        let advice = Sentence("Mend it before you send in numbers.", "대량으로 보내기 전에 바로잡으세요.")
        return (DoctorCheck("key_file", .warning, Sentence(words, words), do: advice), credential)
      }
      let path =
        [SendOptions.p8, SendOptions.p12, SendOptions.key, SendOptions.cert].compactMap(command.value).first ?? ""
      if isOpen(path) {
        let check = DoctorCheck(
          "key_file", .warning,
          Sentence("\(path) can be read by other users of this machine.", "\(path) 파일을 이 컴퓨터의 다른 사용자도 읽을 수 있습니다."),
          do: Sentence("chmod 600 \(path)", "chmod 600 \(path)"))
        return (check, credential)
      }
      return (DoctorCheck("key_file", .ok, kind(of: credential, path)), credential)
    } catch let error as any CodedError {
      return (failure(error), nil)
    } catch {
      return (DoctorCheck("key_file", .failed, Sentence("\(error)", "\(error)")), nil)
    }
  }

  /// What is known of the error's code says what to do; of the command line nothing is.
  private static func failure(_ error: any CodedError) -> DoctorCheck {
    guard error.code != "usage", let entry = Glossary.find(error.code) else {
      let advice = Sentence(
        "Give --p8 and --team (and --key-id unless the file is AuthKey_<ID>.p8), or --p12, or --cert and --key.",
        "--p8과 --team을(파일 이름이 AuthKey_<ID>.p8이 아니면 --key-id도), 또는 --p12나 --cert와 --key를 주세요.")
      return DoctorCheck("key_file", .failed, Sentence(error.message, error.message), do: advice)
    }
    return DoctorCheck(
      "key_file", .failed, Sentence(error.message, "\(entry.what.korean) (\(error.code))"), do: entry.advice)
  }

  private static func kind(of credential: APNsCredential, _ path: String) -> Sentence {
    guard let topics = credential.topics else {
      return Sentence("\(path), a P-256 private key", "\(path), P-256 개인 키입니다")
    }
    let names = topics.map(\.rawValue).joined(separator: ", ")
    return Sentence("\(path), a certificate for \(names)", "\(path), \(names)용 인증서입니다")
  }

  /// Mode bits for group or others.
  private static func isOpen(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & 0o077 != 0
  }
}
