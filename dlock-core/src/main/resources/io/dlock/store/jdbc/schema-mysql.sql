-- MySQL 8 and MariaDB. The key is ASCII by construction; any collation but a binary one
-- would make two keys one. The times are UTC.
CREATE TABLE IF NOT EXISTS dlock_lock (
  lock_key    VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin     NOT NULL PRIMARY KEY,
  owner       VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin     NOT NULL,
  token       BIGINT                                                 NOT NULL,
  acquired_at DATETIME(6)                                            NOT NULL,
  lease_until DATETIME(6)                                            NOT NULL,
  renewals    BIGINT                                                 NOT NULL,
  holder      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  reason      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  waiting     MEDIUMTEXT   CHARACTER SET ascii COLLATE ascii_bin     NOT NULL,
  members     MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin
) ENGINE = InnoDB;
