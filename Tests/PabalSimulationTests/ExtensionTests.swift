import Foundation
import PabalPrimitives
import PabalSimUserNotifications
import PabalSimulation
import Testing

/// Marks the title and leaves the rest.
private final class MarkingExtension: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return }
    content.title += "!"
    contentHandler(content)
  }
}

/// Keeps the handler until its time is over; `answers` says what it does then.
private final class SlowExtension: UNNotificationServiceExtension {
  let journal: Journal
  let answers: Bool
  var handler: ((UNNotificationContent) -> Void)?
  var startedOn: Thread?

  init(journal: Journal, answers: Bool) {
    self.journal = journal
    self.answers = answers
  }

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    handler = contentHandler
    startedOn = Thread.current
    journal.write("started")
  }

  override func serviceExtensionTimeWillExpire() {
    journal.write("expired sameThread=\(startedOn === Thread.current)")
    guard answers else { return }
    let content = UNMutableNotificationContent()
    content.title = "best so far"
    handler?(content)
  }
}

/// Attaches the file that it is given.
private final class AttachingExtension: UNNotificationServiceExtension {
  let file: URL

  init(file: URL) {
    self.file = file
  }

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return }
    do {
      content.attachments = [try UNNotificationAttachment(identifier: "image", url: file)]
    } catch {
      content.subtitle = "\(error)"
    }
    contentHandler(content)
  }
}

@Suite final class ExtensionTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("extension-\(UUID().uuidString)")

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // The test wrote nothing.
    }
  }

  let mutable = #","mutable-content":1"#

  @Test func `the extension changes a mutable alert and nothing else`() async throws {
    let bench = Bench(makeExtension: { MarkingExtension() })
    try await bench.run { phone in
      try await phone.enterBackground()
      try await bench.push(alert("plain"))
      try await bench.push(alert("mutable", more: mutable, root: #","room":7"#))
      #expect(phone.screen.lockScreen.map(\.title) == ["mutable!", "plain"])
      try await phone.tap()
      #expect(bench.journal.lines.contains { $0.contains("room=7") })
      try await bench.push(#"{"aps":{"badge":4,"mutable-content":1}}"#)
      #expect(phone.screen.badge == 4)
      #expect(phone.events.filter { if case .extensionStarted = $0 { true } else { false } }.count == 1)
    }
  }

  @Test(arguments: [true, false])
  func `after 30 s the extension is told on another thread, then the original is shown`(answers: Bool) async throws {
    let journal = Journal()
    let bench = Bench(makeExtension: { SlowExtension(journal: journal, answers: answers) })
    try await bench.run { phone in
      try await phone.enterBackground()
      bench.apns.push(alert("original", more: mutable))
      try await phone.wait { _, records in
        records.contains { if case .extensionStarted = $0.event { true } else { false } }
      }
      // `started` is written by the extension's own thread, after the record.
      while journal.lines.isEmpty { await Task.yield() }
      try await phone.advance(by: .milliseconds(29_999), whileWorkIsOpen: true)
      #expect(phone.screen.lockScreen.isEmpty)
      #expect(journal.lines == ["started"])
      try await phone.advance(by: .milliseconds(1), whileWorkIsOpen: true)
      try await phone.wait { screen, _ in !screen.lockScreen.isEmpty }
      #expect(phone.screen.lockScreen.map(\.title) == [answers ? "best so far" : "original"])
      #expect(journal.lines == ["started", "expired sameThread=false"])
    }
  }

  @Test func `an attachment is moved into the phone's store`() async throws {
    let file = try temporaryFile("picture.png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])
    let bench = Bench(makeExtension: { AttachingExtension(file: file) })
    try await bench.run { phone in
      try await phone.enterBackground()
      try await bench.push(alert("hello", more: mutable))
      let attachment = try #require(phone.screen.lockScreen.first?.attachments.first)
      #expect(attachment.type == "public.png")
      #expect(attachment.byteCount == 11)
      #expect(attachment.file.path.hasPrefix(phone.files.path))
      #expect(!FileManager.default.fileExists(atPath: file.path))
    }
  }

  @Test func `a file that is not what its name says is refused and the text is shown`() async throws {
    let file = try temporaryFile("picture.png", Array("<html>".utf8))
    let bench = Bench(makeExtension: { AttachingExtension(file: file) })
    try await bench.run { phone in
      try await phone.enterBackground()
      try await bench.push(alert("hello", more: mutable))
      #expect(phone.screen.lockScreen.map(\.title) == ["hello"])
      #expect(phone.screen.lockScreen.first?.attachments.isEmpty == true)
      #expect(phone.events.contains { if case .attachmentRefused = $0 { true } else { false } })
    }
  }

  @Test func `an attachment is checked when it is made`() throws {
    #expect(throws: UNError(.attachmentInvalidURL)) {
      try UNNotificationAttachment(identifier: "a", url: URL(fileURLWithPath: "/no/such/file.png"))
    }
    let text = try temporaryFile("picture.txt", [1])
    #expect(throws: UNError(.attachmentUnrecognizedType)) {
      try UNNotificationAttachment(identifier: "a", url: text)
    }
    let hinted = try UNNotificationAttachment(
      identifier: "a", url: text, options: [UNNotificationAttachmentOptionsTypeHintKey: "public.png"])
    #expect(hinted.type == "public.png")
    let empty = try temporaryFile("picture.jpg", [])
    #expect(throws: UNError(.attachmentInvalidFileSize)) {
      try UNNotificationAttachment(identifier: "a", url: empty)
    }
  }

  private func temporaryFile(_ name: String, _ bytes: [UInt8]) throws -> URL {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent(name)
    try Data(bytes).write(to: file)
    return file
  }
}
