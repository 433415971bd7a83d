-- With the collation of the operating system, an index may miss rows after its next update.
-- The rows of a key are updated over and over: in a page with room they need no new index entry.
CREATE TABLE IF NOT EXISTS dlock_lock (
  lock_key    VARCHAR(512) COLLATE "C"    NOT NULL PRIMARY KEY,
  owner       VARCHAR(64) COLLATE "C"     NOT NULL,
  token       BIGINT                      NOT NULL,
  acquired_at TIMESTAMP WITH TIME ZONE    NOT NULL,
  lease_until TIMESTAMP WITH TIME ZONE    NOT NULL,
  renewals    BIGINT                      NOT NULL,
  holder      VARCHAR(255)                NOT NULL,
  reason      VARCHAR(255)                NOT NULL,
  waiting     VARCHAR(170000) COLLATE "C" NOT NULL DEFAULT '',
  members     TEXT COLLATE "C"            NOT NULL DEFAULT ''
) WITH (fillfactor = 70);
