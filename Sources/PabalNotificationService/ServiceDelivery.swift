internal import PabalCore
internal import PabalPrimitives

#if os(iOS)
@preconcurrency internal import UserNotifications
#else
internal import PabalSimUserNotifications
#endif

/// One notification on its way through the extension. Several things race to finish it (the picture is there, it cannot
/// be had, our own deadline, the system's); one wins, and the content handler is called once.
final class ServiceDelivery: Sendable {
  private enum State {
    /// Can transition to: finished.
    case open(Task<Void, Never>?, PabalTimer?)
    case finished
  }

  // Touched only by whoever moves `state` to `finished`, and that happens once.
  private nonisolated(unsafe) let parts:
    (content: UNMutableNotificationContent, handler: (UNNotificationContent) -> Void)
  private let state = Locked(State.open(nil, nil))

  init(_ content: UNMutableNotificationContent, handler: @escaping (UNNotificationContent) -> Void) {
    parts = (content, handler)
  }

  /// What is to be stopped when the delivery is finished.
  func holds(_ task: Task<Void, Never>, _ timer: PabalTimer) {
    let isOpen = state.withLock { state in
      guard case .open = state else { return false }
      state = .open(task, timer)
      return true
    }
    if !isOpen {
      task.cancel()
      timer.cancel()
    }
  }

  /// Hands the notification to the system, with the picture if there is one. False when the picture is not used: it
  /// came too late, or the system does not want it.
  @discardableResult
  func finish(with media: Media? = nil) -> Bool {
    let before = state.withLock { state in
      defer { state = .finished }
      return state
    }
    guard case .open(let task, let timer) = before else { return false }
    let attachment = media.flatMap(attachment)
    if let attachment { parts.content.attachments = [attachment] }
    parts.handler(parts.content)
    timer?.cancel()
    task?.cancel()
    return attachment != nil
  }

  private func attachment(_ media: Media) -> UNNotificationAttachment? {
    do {
      return try UNNotificationAttachment(
        identifier: "image", url: media.file,
        options: [UNNotificationAttachmentOptionsTypeHintKey: media.type.identifier])
    } catch {
      // The system does not want the file: the text is still worth showing.
      return nil
    }
  }
}
