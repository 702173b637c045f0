internal import CUV
import PabalPrimitives

typealias UVTCP = UnsafeMutablePointer<uv_tcp_t>

/// The object behind a handle's or request's `data`. Every libuv call-back goes through here.
func owner<Owner: AnyObject>(of data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner {
  guard let data else { preconditionFailure("a libuv handle lost its \(type)") }
  return Unmanaged<Owner>.fromOpaque(data).takeUnretainedValue()
}

/// Keeps `owner` alive until `release(data:of:)`; the result goes into a handle's `data`.
func retainedData(_ owner: AnyObject) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(owner).toOpaque()
}

func release(data: UnsafeMutableRawPointer?) {
  guard let data else { return }
  Unmanaged<AnyObject>.fromOpaque(data).release()
}

// libuv's handles inherit by common first members.

func asHandle(_ pointer: UnsafeMutablePointer<some Any>) -> UnsafeMutablePointer<uv_handle_t> {
  UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_handle_t.self)
}

func asStream(_ tcp: UVTCP) -> UnsafeMutablePointer<uv_stream_t> {
  UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
}

func asRequest(_ pointer: UnsafeMutablePointer<some Any>) -> UnsafeMutablePointer<uv_req_t> {
  UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_req_t.self)
}

/// The one function that turns a libuv status into our error.
func channelError(
  _ status: Int32, doing what: String, file: String = #fileID, line: Int = #line
) -> ChannelError {
  let kind: ChannelError.Kind
  let remedy: String
  switch status {
  case UV_ECONNREFUSED.rawValue:
    (kind, remedy) = (.refused, "Nothing listens there: start the server or correct the port.")
  case UV_ENETUNREACH.rawValue, UV_EHOSTUNREACH.rawValue, UV_EADDRNOTAVAIL.rawValue:
    (kind, remedy) = (.unreachable, "Check the network, and any firewall in between.")
  case UV_ECONNRESET.rawValue, UV_EPIPE.rawValue, UV_ECONNABORTED.rawValue:
    (kind, remedy) = (.reset, "The other side closed the connection; dial again.")
  case UV_ETIMEDOUT.rawValue:
    (kind, remedy) = (.timedOut, "No answer; check the address and any firewall in between.")
  case UV_EADDRINUSE.rawValue:
    (kind, remedy) = (.addressInUse, "Another process has this port: stop it, or take port 0 for a free one.")
  case UV_EACCES.rawValue, UV_EPERM.rawValue:
    (kind, remedy) = (.notAllowed, "Ports below 1024 need privileges; take a higher one.")
  case UV_EAI_NONAME.rawValue, UV_EAI_NODATA.rawValue, UV_EAI_AGAIN.rawValue, UV_EAI_FAIL.rawValue:
    (kind, remedy) = (.nameNotFound, "Check the host name and the DNS server.")
  case UV_EMFILE.rawValue, UV_ENFILE.rawValue:
    (kind, remedy) = (.other, "No file descriptor is left; raise the limit (ulimit -n).")
  default:
    (kind, remedy) = (.other, "libuv calls it \(String(cString: uv_err_name(status))).")
  }
  return ChannelError(
    kind, "\(what) failed: \(String(cString: uv_strerror(status))). \(remedy)", file: file, line: line)
}
