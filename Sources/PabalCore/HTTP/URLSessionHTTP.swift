internal import Foundation
internal import PabalPrimitives

#if os(Linux)
internal import FoundationNetworking
#endif

extension HTTPClient {
  /// One ephemeral session: no cookies, no cache, 10 seconds of silence end a call.
  public static func urlSession() -> HTTPClient {
    let transfers = URLSessionTransfers()
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = HTTPLimits.silenceSeconds
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    let session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    let owner = SessionOwner(session: session)
    return HTTPClient(
      send: { call in try await transfers.send(call, on: owner.session) },
      download: { download in try await transfers.download(download, on: owner.session) })
  }
}

enum HTTPLimits {
  static let silenceSeconds = 10.0
  /// Our server's largest answer is a list of preferences.
  static let answerBytes = 1_048_576
}

/// Ends the session, which retains its delegate, together with the last closure that uses it.
private final class SessionOwner: Sendable {
  let session: URLSession

  init(session: URLSession) {
    self.session = session
  }

  deinit {
    session.invalidateAndCancel()
  }
}

/// The delegate of the session: answers are collected and files checked while they arrive.
private final class URLSessionTransfers: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, Sendable {
  private struct Transfer {
    var download: HTTPDownload?
    var answer: CheckedContinuation<HTTPAnswer, any Error>?
    var file: CheckedContinuation<HTTPFile, any Error>?
    var body: [UInt8] = []
    var redirects = 0
    var failure: HTTPFailure?
    var stored: HTTPFile?
  }

  private let open = Locked<[Int: Transfer]>([:])

  func send(_ call: HTTPCall, on session: URLSession) async throws -> HTTPAnswer {
    var request = URLRequest(url: call.url)
    request.httpMethod = call.method
    for (name, value) in call.headers { request.setValue(value, forHTTPHeaderField: name) }
    request.httpBody = call.body.map { Data($0) }
    let task = session.dataTask(with: request)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        open.withLock { $0[task.taskIdentifier] = Transfer(answer: continuation) }
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
  }

  func download(_ download: HTTPDownload, on session: URLSession) async throws -> HTTPFile {
    guard download.allows(download.url) else { throw HTTPFailure(.addressRefused) }
    let task = session.downloadTask(with: URLRequest(url: download.url))
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        open.withLock { $0[task.taskIdentifier] = Transfer(download: download, file: continuation) }
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
  }

  func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let tooMuch = open.withLock { transfers in
      transfers[dataTask.taskIdentifier]?.body.append(contentsOf: data)
      guard let count = transfers[dataTask.taskIdentifier]?.body.count, count > HTTPLimits.answerBytes else {
        return false
      }
      transfers[dataTask.taskIdentifier]?.failure = HTTPFailure(.tooLarge)
      return true
    }
    if tooMuch { dataTask.cancel() }
  }

  func urlSession(
    _: URLSession, task: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse, newRequest: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    let refusal = open.withLock { transfers -> HTTPFailure? in
      guard var transfer = transfers[task.taskIdentifier], let download = transfer.download else { return nil }
      transfer.redirects += 1
      if transfer.redirects > download.maximumRedirects {
        transfer.failure = HTTPFailure(.tooManyRedirects)
      } else if newRequest.url.map(download.allows) != true {
        transfer.failure = HTTPFailure(.addressRefused)
      }
      transfers[task.taskIdentifier] = transfer
      return transfer.failure
    }
    // Without a next request the redirect itself is the answer; canceling here as well would trap on Linux.
    completionHandler(refusal == nil ? newRequest : nil)
  }

  func urlSession(
    _: URLSession, downloadTask: URLSessionDownloadTask, didWriteData _: Int64, totalBytesWritten: Int64,
    totalBytesExpectedToWrite: Int64
  ) {
    let tooLarge = open.withLock { transfers -> Bool in
      guard let limit = transfers[downloadTask.taskIdentifier]?.download?.maximumBytes(mimeType(of: downloadTask))
      else {
        return false
      }
      guard max(totalBytesWritten, totalBytesExpectedToWrite) > Int64(limit) else { return false }
      transfers[downloadTask.taskIdentifier]?.failure = HTTPFailure(.tooLarge)
      return true
    }
    if tooLarge { downloadTask.cancel() }
  }

  func urlSession(_: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    open.withLock { transfers in
      guard let download = transfers[downloadTask.taskIdentifier]?.download else { return }
      do {
        let size = try FileManager().attributesOfItem(atPath: location.path)[.size] as? NSNumber
        let mimeType = mimeType(of: downloadTask)
        guard (size?.intValue ?? 0) <= download.maximumBytes(mimeType) else {
          transfers[downloadTask.taskIdentifier]?.failure = HTTPFailure(.tooLarge)
          return
        }
        try FileManager().moveItem(at: location, to: download.destination)
        transfers[downloadTask.taskIdentifier]?.stored = HTTPFile(
          status: (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0, mimeType: mimeType,
          bytes: size?.intValue ?? 0)
      } catch {
        transfers[downloadTask.taskIdentifier]?.failure = HTTPFailure(.fileFailed, number: (error as NSError).code)
      }
    }
  }

  func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let transfer = open.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
    let failure = transfer.failure ?? error.map(Self.failure)
    if let continuation = transfer.file {
      if let failure {
        continuation.resume(throwing: failure)
      } else if let stored = transfer.stored {
        continuation.resume(returning: stored)
      } else {
        continuation.resume(throwing: HTTPFailure(.fileFailed))
      }
    }
    if let continuation = transfer.answer {
      if let failure {
        continuation.resume(throwing: failure)
      } else if let response = task.response as? HTTPURLResponse {
        continuation.resume(returning: Self.answer(response, body: transfer.body))
      } else {
        continuation.resume(throwing: HTTPFailure(.unreachable))
      }
    }
  }

  private func mimeType(of task: URLSessionTask) -> String? {
    (task.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type").map { header in
      header.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }

  private static func answer(_ response: HTTPURLResponse, body: [UInt8]) -> HTTPAnswer {
    var headers: [String: String] = [:]
    for (name, value) in response.allHeaderFields {
      headers[String(describing: name).lowercased()] = String(describing: value)
    }
    return HTTPAnswer(status: response.statusCode, headers: headers, body: body)
  }

  private static func failure(_ error: any Error) -> HTTPFailure {
    let number = (error as NSError).code
    switch number {
    case NSURLErrorCancelled: return HTTPFailure(.canceled, number: number)
    case NSURLErrorTimedOut: return HTTPFailure(.timedOut, number: number)
    case NSURLErrorHTTPTooManyRedirects: return HTTPFailure(.tooManyRedirects, number: number)
    default: return HTTPFailure(.unreachable, number: number)
    }
  }
}
