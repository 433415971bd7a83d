-- The key is compared exactly also in a database with IGNORECASE=TRUE.
CREATE TABLE IF NOT EXISTS dlock_lock (
  lock_key    VARCHAR_CASESENSITIVE(512)    NOT NULL PRIMARY KEY,
  owner       VARCHAR_CASESENSITIVE(64)     NOT NULL,
  token       BIGINT                        NOT NULL,
  acquired_at TIMESTAMP(6) WITH TIME ZONE   NOT NULL,
  lease_until TIMESTAMP(6) WITH TIME ZONE   NOT NULL,
  renewals    BIGINT                        NOT NULL,
  holder      VARCHAR(255)                  NOT NULL,
  reason      VARCHAR(255)                  NOT NULL,
  waiting     VARCHAR_CASESENSITIVE(170000) DEFAULT '' NOT NULL,
  members     VARCHAR_CASESENSITIVE         DEFAULT '' NOT NULL
);
