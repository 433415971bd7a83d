-- With the collation of the operating system, an index may miss rows after its next update.
CREATE TABLE IF NOT EXISTS dlock_fence (
  resource VARCHAR(512) COLLATE "C" NOT NULL PRIMARY KEY,
  token    BIGINT                   NOT NULL
);
