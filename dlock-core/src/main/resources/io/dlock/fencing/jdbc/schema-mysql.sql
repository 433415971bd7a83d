-- MySQL 8 and MariaDB. The resource is ASCII by construction; any collation but a binary
-- one would make two resources one. Without InnoDB there are no transactions.
CREATE TABLE IF NOT EXISTS dlock_fence (
  resource VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  token    BIGINT                                             NOT NULL
) ENGINE = InnoDB;
