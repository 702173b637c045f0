/// Bounds of the driver, each with its reason.
package enum SQLiteLimits {
  /// Calls that wait for one thread. More means that the disk does not keep up; the caller is told to come back.
  package static let queuedJobs = 20_000
  /// Calls in one commit: enough to share an fsync, few enough to hold the others back only briefly.
  package static let jobsPerCommit = 512
  /// After this long a commit takes no more calls in.
  package static let groupingMilliseconds: Int64 = 2
  /// 8 MB of 4 KiB pages: small and often; at 32 MB a checkpoint's fsync held commits up for 60 ms.
  package static let checkpointPages: Int32 = 2_048
  /// A read transaction that is older keeps the WAL from restarting, so it is ended.
  package static let readLimit = Duration.seconds(5)
  /// How often a running statement looks at that limit, in virtual machine steps.
  package static let stepsBetweenChecks: Int32 = 20_000
  /// Waiting for another process's lock, which only a backup tool could hold.
  package static let busyMilliseconds: Int32 = 5_000
  /// The page cache of the writer and of each reader.
  package static let writerCachePages = 4_096
}
