import CMicrohttpd
import PabalPrimitives

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The calls between the C library and `WebServer`. Every callback runs on the library's one thread.
enum Library {
  /// Starts a daemon that calls `server` back. The server outlives it: `stop` ends the daemon first.
  static func start(_ server: WebServer, address: SocketAddress) throws(WebServerError) -> OpaquePointer {
    let limits = server.configuration.limits
    let context = Unmanaged.passUnretained(server).toOpaque()
    #if canImport(Darwin)
    var flags = UInt32(MHD_USE_AUTO_INTERNAL_THREAD.rawValue)
    #else
    var flags = UInt32(MHD_USE_EPOLL_INTERNAL_THREAD.rawValue)
    #endif
    flags |= UInt32(MHD_ALLOW_SUSPEND_RESUME.rawValue)
    if address.isIPv6 { flags |= UInt32(MHD_USE_IPv6.rawValue) }
    let daemon = address.withBytes { bytes -> OpaquePointer? in
      let options: [MHD_OptionItem] = [
        number(.CONNECTION_MEMORY_LIMIT, limits.connectionPoolBytes),
        number(.CONNECTION_LIMIT, limits.connections),
        number(.PER_IP_CONNECTION_LIMIT, limits.connectionsPerAddress),
        MHD_OptionItem(
          option: .SOCK_ADDR, value: 0, ptr_value: UnsafeMutableRawPointer(mutating: bytes)),
        callback(.NOTIFY_CONNECTION, unsafeBitCast(connectionChanged, to: Int.self), context),
        callback(.NOTIFY_COMPLETED, unsafeBitCast(requestCompleted, to: Int.self), context),
        callback(.URI_LOG_CALLBACK, unsafeBitCast(requestLine, to: Int.self), context),
        callback(.UNESCAPE_CALLBACK, unsafeBitCast(leaveEscaped, to: Int.self), context),
        number(.END, 0),
      ]
      return pabal_mhd_start(flags, access, context, options)
    }
    guard let daemon else {
      throw errno == EADDRINUSE
        ? WebServerError(
          .addressInUse, "Port \(server.configuration.port) is taken. Stop what holds it, or choose another port.")
        : WebServerError(
          .notStarted, "Cannot listen on \(server.configuration.host):\(server.configuration.port) (errno \(errno)).")
    }
    return daemon
  }

  private static func number(_ option: MHD_OPTION, _ value: Int) -> MHD_OptionItem {
    MHD_OptionItem(option: option, value: value, ptr_value: nil)
  }

  private static func callback(
    _ option: MHD_OPTION, _ function: Int, _ context: UnsafeMutableRawPointer
  ) -> MHD_OptionItem {
    MHD_OptionItem(option: option, value: function, ptr_value: context)
  }

  private static func server(_ context: UnsafeMutableRawPointer?) -> WebServer {
    guard let context else { preconditionFailure("the daemon was started with a context") }
    return Unmanaged<WebServer>.fromOpaque(context).takeUnretainedValue()
  }

  private static func exchange(_ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) -> Exchange? {
    guard let pointer = slot?.pointee else { return nil }
    return Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
  }

  private static let connectionChanged: MHD_NotifyConnectionCallback = { context, connection, _, what in
    guard let connection else { return }
    let server = server(context)
    let key = Int(bitPattern: connection)
    if what == .CONNECTION_NOTIFY_STARTED {
      server.connectionOpened(key, descriptor: pabal_mhd_descriptor(connection))
    } else {
      server.connectionClosed(key)
    }
  }

  /// Called once the request line is in; what it returns is the request's slot until `requestCompleted`.
  private static let requestLine:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
      context, target, connection in
      guard let target, let connection else { return nil }
      let bytes = Array(UnsafeBufferPointer(start: target, count: strlen(target))).map { UInt8(bitPattern: $0) }
      let exchange = server(context).requestBegan(Int(bitPattern: connection), target: bytes)
      return Unmanaged.passRetained(exchange).toOpaque()
    }

  private static let requestCompleted: MHD_RequestCompletedCallback = { context, _, slot, _ in
    guard let pointer = slot?.pointee else { return }
    slot?.pointee = nil
    let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
    server(context).requestEnded(exchange)
  }

  /// The library would decode `%2F` and cut at `%00` before we see the path; we decode each segment ourselves.
  private static let leaveEscaped:
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = { _, _, text in
      text.map { strlen($0) } ?? 0
    }

  private static let access: MHD_AccessHandlerCallback = {
    context, connection, _, method, version, data, size, slot in
    guard let connection, let size, let exchange = exchange(slot) else { return .NO }
    let server = server(context)
    let phase = exchange.state.withLock { $0.phase }
    switch phase {
    case .head:
      let head = RequestHead(
        method: method.map { String(cString: $0) } ?? "", version: version.map { String(cString: $0) } ?? "",
        target: exchange.target,
        headers: headers(of: connection, reach: server.configuration.limits.connectionPoolBytes))
      return server.headReceived(exchange, head, connection)
    case .body where size.pointee > 0:
      let bytes = UnsafeRawBufferPointer(start: data, count: size.pointee)
      size.pointee = 0
      return server.bodyReceived(exchange, bytes) ? .YES : .NO
    case .body:
      return server.bodyEnded(exchange, connection)
    case .answered(let response):
      return server.send(response, exchange, connection)
    case .running, .sent:
      size.pointee = 0
      return .YES
    }
  }

  private struct HeaderCollector {
    var headers: [RequestHead.Header] = []
    let reach: Int
  }

  private static func headers(of connection: OpaquePointer, reach: Int) -> [RequestHead.Header] {
    var collector = HeaderCollector(reach: HeaderLayout.isNeeded ? reach : -1)
    withUnsafeMutablePointer(to: &collector) { pointer in
      _ = MHD_get_connection_values_n(
        connection, .HEADER_KIND,
        { context, _, name, nameBytes, value, valueBytes in
          guard let context, let name else { return .YES }
          let collector = context.assumingMemoryBound(to: HeaderCollector.self)
          let reach = collector.pointee.reach
          var header = RequestHead.Header(
            name: Library.bytes(name, nameBytes), value: Library.bytes(value, valueBytes))
          if reach >= 0 {
            header.isOneLine =
              value.map { HeaderLayout.isOneLine(name: name, nameBytes: nameBytes, value: $0, reach: reach) } ?? false
          }
          collector.pointee.headers.append(header)
          return .YES
        }, pointer)
    }
    return collector.headers
  }

  private static func bytes(_ pointer: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
    UnsafeBufferPointer(start: pointer, count: pointer == nil ? 0 : count).map { UInt8(bitPattern: $0) }
  }

  /// The context of one stream's reader.
  final class StreamReader: Sendable {
    let stream: BodyStream
    let connection: SuspendableConnection

    init(stream: BodyStream, connection: OpaquePointer) {
      self.stream = stream
      self.connection = SuspendableConnection(connection)
    }

    func read(into buffer: UnsafeMutablePointer<CChar>, maximum: Int) -> Int {
      let target = UnsafeMutableRawBufferPointer(start: buffer, count: maximum)
      let pull = stream.pull(into: target) {
        connection.suspend()
        return { [connection] in connection.resume() }
      }
      switch pull {
      case .bytes(let count): return count
      case .suspended: return 0
      case .end: return pabal_mhd_end_of_stream()
      }
    }
  }

  /// A reply whose body comes from `stream`, in chunks.
  static func streamingResponse(_ stream: BodyStream, connection: OpaquePointer) -> OpaquePointer? {
    let reader = Unmanaged.passRetained(StreamReader(stream: stream, connection: connection))
    let response = pabal_mhd_stream(
      4096,
      { context, _, buffer, maximum in
        guard let context, let buffer else { return pabal_mhd_end_of_stream() }
        return Unmanaged<StreamReader>.fromOpaque(context).takeUnretainedValue().read(into: buffer, maximum: maximum)
      }, reader.toOpaque(),
      { context in
        guard let context else { return }
        Unmanaged<StreamReader>.fromOpaque(context).release()
      })
    if response == nil { reader.release() }
    return response
  }
}
