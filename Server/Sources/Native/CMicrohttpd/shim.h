#pragma once
#include <stdint.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <microhttpd.h>

// `MHD_start_daemon` is variadic, which Swift cannot call; every option travels in the array.
static inline struct MHD_Daemon *pabal_mhd_start(unsigned int flags, MHD_AccessHandlerCallback handler, void *context,
                                                 const struct MHD_OptionItem *options) {
  return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// `MHD_get_daemon_info` is variadic. Returns 0 when there is no listening socket.
static inline uint16_t pabal_mhd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info == NULL ? 0 : info->port;
}

// `MHD_get_connection_info` is variadic. Returns -1 when the library does not know the socket.
static inline int pabal_mhd_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : (int)info->connect_fd;
}

// `MHD_SIZE_UNKNOWN` is a cast macro, which the importer does not see.
static inline struct MHD_Response *pabal_mhd_stream(size_t block, MHD_ContentReaderCallback read, void *context,
                                                    MHD_ContentReaderFreeCallback release) {
  return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, read, context, release);
}

// `-1` is a cast macro in the library's header.
static inline ssize_t pabal_mhd_end_of_stream(void) { return MHD_CONTENT_READER_END_OF_STREAM; }
