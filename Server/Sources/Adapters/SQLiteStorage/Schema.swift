package import SQLiteDriver

/// The schema as data. `am` (app and mode) leads every key but the two that give out dense numbers, which are unique
/// in the whole store.
///
/// Sealed columns end in nothing special; `docs/data-at-rest.md` lists them. No delivery is keyed by anything but
/// (message, user, device): a history row per user and time would cost a page a delivery.
package enum Schema {
  package static let migrations = [
    SQLiteMigration(version: 1, statements: first), SQLiteMigration(version: 2, statements: second),
    SQLiteMigration(version: 3, statements: third), SQLiteMigration(version: 4, statements: fourth),
  ]

  private static let first: [SQL] =
    [
      "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
      "CREATE TABLE app (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
      "CREATE TABLE user (seq INTEGER PRIMARY KEY, am INTEGER NOT NULL, id TEXT NOT NULL, UNIQUE (am, id))",
      """
      CREATE TABLE preference (
        am INTEGER NOT NULL, user INTEGER NOT NULL, category TEXT NOT NULL, isOn INTEGER NOT NULL,
        setAt INTEGER NOT NULL, PRIMARY KEY (am, user, category)) WITHOUT ROWID
      """,
    ] + registry + messages + reports

  /// Repeats wait here, each until its time; devices are counted without reading their rows.
  private static let second: [SQL] = [
    "ALTER TABLE outgoing ADD COLUMN due INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE outgoing ADD COLUMN postponed INTEGER NOT NULL DEFAULT 0",
    "DROP INDEX outgoing_queued",
    "CREATE INDEX outgoing_due ON outgoing (due, msg, dev) WHERE marked = 0",
    """
    CREATE VIEW outgoing_row AS
    SELECT o.am, o.msg, o.dev, o.user, o.push, u.id AS userId, m.id AS messageId, m.expires, m.category, d.n,
      o.postponed, o.due, o.marked, m.class, m.created
    FROM outgoing o
      JOIN user u ON u.seq = o.user
      JOIN message m ON m.seq = o.msg
      JOIN delivery d ON d.am = o.am AND d.msg = o.msg AND d.user = o.user AND d.dev = o.dev
    """,
    "CREATE INDEX device_status ON device (am, platform, status)",
  ]

  /// Reports with a name and a number.
  private static let third: [SQL] = [
    "ALTER TABLE event ADD COLUMN name TEXT",
    "ALTER TABLE event ADD COLUMN value TEXT",
  ]

  /// What is kept for a time only. A device that was inactive before counts from this step on.
  private static let fourth: [SQL] = [
    // Messages that are going: their own row is gone, the rest follows in small bites.
    "CREATE TABLE pruning (msg INTEGER PRIMARY KEY, am INTEGER NOT NULL)",
    "CREATE INDEX message_created ON message (created, seq)",
    "CREATE INDEX dedupe_until ON dedupe (until)",
    "ALTER TABLE device ADD COLUMN inactive INTEGER",
    "UPDATE device SET inactive = CAST(strftime('%s', 'now') AS INTEGER) * 1000 WHERE status = 0",
    "CREATE INDEX device_inactive ON device (inactive) WHERE status = 0",
    "DROP VIEW device_row",
    """
    CREATE VIEW device_row AS
    SELECT d.am, d.dev, u.id AS userId, d.platform, d.topic, d.status, d.reason, d.created, d.locale, d.zone, d.app,
      d.os, d.model, d.permission, d.lockScreen, d.sdk, d.serviceExtension, d.contentExtension, d.token,
      s.registered, s.env, s.learned, i.id AS install, coalesce(i.epoch, 0) AS epoch, d.user, d.inactive
    FROM device_seen s
      JOIN device d ON d.am = s.am AND d.user = s.user AND d.dev = s.dev
      LEFT JOIN user u ON u.seq = d.user
      LEFT JOIN install i ON i.am = d.am AND i.dev = d.dev
    """,
  ]

  private static let registry: [SQL] = [
    """
    CREATE TABLE device (
      am INTEGER NOT NULL, user INTEGER NOT NULL, dev INTEGER NOT NULL, provider TEXT NOT NULL, kind TEXT NOT NULL,
      platform TEXT NOT NULL, topic TEXT, status INTEGER NOT NULL, reason TEXT, created INTEGER NOT NULL,
      locale TEXT, zone TEXT, app TEXT, os TEXT, model TEXT, permission TEXT, lockScreen INTEGER, sdk TEXT,
      serviceExtension INTEGER, contentExtension INTEGER, token BLOB, bidx BLOB,
      PRIMARY KEY (am, user, dev)) WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX device_token ON device (am, provider, kind, bidx) WHERE bidx IS NOT NULL",
    // Written on each registration, so narrow; also says whose the device is.
    """
    CREATE TABLE device_seen (
      am INTEGER NOT NULL, dev INTEGER NOT NULL, user INTEGER NOT NULL, registered INTEGER NOT NULL, env TEXT,
      learned INTEGER NOT NULL, PRIMARY KEY (am, dev)) WITHOUT ROWID
    """,
    """
    CREATE TABLE install (
      am INTEGER NOT NULL, id TEXT NOT NULL, dev INTEGER NOT NULL, epoch INTEGER NOT NULL, secretHash BLOB,
      proven INTEGER NOT NULL, PRIMARY KEY (am, id)) WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX install_device ON install (am, dev)",
    """
    CREATE VIEW device_row AS
    SELECT d.am, d.dev, u.id AS userId, d.platform, d.topic, d.status, d.reason, d.created, d.locale, d.zone, d.app,
      d.os, d.model, d.permission, d.lockScreen, d.sdk, d.serviceExtension, d.contentExtension, d.token,
      s.registered, s.env, s.learned, i.id AS install, coalesce(i.epoch, 0) AS epoch, d.user
    FROM device_seen s
      JOIN device d ON d.am = s.am AND d.user = s.user AND d.dev = s.dev
      LEFT JOIN user u ON u.seq = d.user
      LEFT JOIN install i ON i.am = d.am AND i.dev = d.dev
    """,
    """
    CREATE TABLE change (
      seq INTEGER PRIMARY KEY, am INTEGER NOT NULL, user INTEGER NOT NULL, at INTEGER NOT NULL)
    """,
  ]

  private static let messages: [SQL] = [
    """
    CREATE TABLE message (
      seq INTEGER PRIMARY KEY, am INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, version INTEGER NOT NULL,
      category TEXT, class TEXT NOT NULL, source TEXT NOT NULL, request TEXT, created INTEGER NOT NULL,
      expires INTEGER, dedupe BLOB, data BLOB NOT NULL, UNIQUE (am, id))
    """,
    """
    CREATE TABLE decision (
      am INTEGER NOT NULL, msg INTEGER NOT NULL, user INTEGER NOT NULL, ord INTEGER NOT NULL, reason TEXT,
      steps TEXT NOT NULL, PRIMARY KEY (am, msg, user)) WITHOUT ROWID
    """,
    """
    CREATE TABLE single (
      am INTEGER NOT NULL, user INTEGER NOT NULL, msg INTEGER NOT NULL, PRIMARY KEY (am, user, msg)) WITHOUT ROWID
    """,
    """
    CREATE TABLE delivery (
      am INTEGER NOT NULL, msg INTEGER NOT NULL, user INTEGER NOT NULL, dev INTEGER NOT NULL, state INTEGER NOT NULL,
      reason TEXT, at INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (am, msg, user, dev)) WITHOUT ROWID
    """,
    """
    CREATE TABLE delivery_steps (
      am INTEGER NOT NULL, msg INTEGER NOT NULL, user INTEGER NOT NULL, dev INTEGER NOT NULL, ord INTEGER NOT NULL,
      decided TEXT NOT NULL, concluded TEXT, PRIMARY KEY (am, msg, user, dev)) WITHOUT ROWID
    """,
    // What is accepted and has no outcome yet.
    """
    CREATE TABLE outgoing (
      am INTEGER NOT NULL, msg INTEGER NOT NULL, dev INTEGER NOT NULL, user INTEGER NOT NULL, marked INTEGER NOT NULL,
      push BLOB NOT NULL, PRIMARY KEY (am, msg, dev)) WITHOUT ROWID
    """,
    "CREATE INDEX outgoing_queued ON outgoing (msg, dev) WHERE marked = 0",
    // The exact deliveries that were handed to a transport; gone in the commit that has their last outcome.
    """
    CREATE TABLE mark (
      am INTEGER NOT NULL, msg INTEGER NOT NULL, sub INTEGER NOT NULL, at INTEGER NOT NULL, members BLOB NOT NULL,
      PRIMARY KEY (am, msg, sub)) WITHOUT ROWID
    """,
    """
    CREATE TABLE attempt (
      am INTEGER NOT NULL, msg INTEGER NOT NULL, user INTEGER NOT NULL, dev INTEGER NOT NULL, n INTEGER NOT NULL,
      started INTEGER NOT NULL, us INTEGER NOT NULL, env TEXT NOT NULL, status INTEGER, reason TEXT, since INTEGER,
      apnsId TEXT, apnsUniqueId TEXT, connection TEXT NOT NULL, PRIMARY KEY (am, msg, user, dev, n)) WITHOUT ROWID
    """,
    """
    CREATE TABLE dedupe (
      am INTEGER NOT NULL, key BLOB NOT NULL, user INTEGER NOT NULL, msg INTEGER NOT NULL, until INTEGER NOT NULL,
      PRIMARY KEY (am, key, user)) WITHOUT ROWID
    """,
  ]

  private static let reports: [SQL] = [
    """
    CREATE TABLE event (
      am INTEGER NOT NULL, msg INTEGER NOT NULL, dev INTEGER NOT NULL, kind TEXT NOT NULL, key BLOB NOT NULL,
      ord INTEGER NOT NULL, at INTEGER NOT NULL, received INTEGER NOT NULL, action TEXT, text BLOB,
      PRIMARY KEY (am, msg, dev, kind, key)) WITHOUT ROWID
    """
  ]
}
