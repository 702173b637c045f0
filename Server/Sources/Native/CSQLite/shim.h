#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast to a function pointer, which Swift cannot import: SQLite copies the bytes at once.
static inline int pabal_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int byteCount) {
  return sqlite3_bind_text(statement, index, text, byteCount, SQLITE_TRANSIENT);
}

static inline int pabal_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int byteCount) {
  return sqlite3_bind_blob(statement, index, bytes, byteCount, SQLITE_TRANSIENT);
}

// sqlite3_db_config is variadic.
static inline int pabal_sqlite_configure(sqlite3 *connection, int option, int isOn) {
  return sqlite3_db_config(connection, option, isOn, (int *)0);
}
