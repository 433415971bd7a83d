-- The resource is compared exactly also in a database with IGNORECASE=TRUE.
CREATE TABLE IF NOT EXISTS dlock_fence (
  resource VARCHAR_CASESENSITIVE(512) NOT NULL PRIMARY KEY,
  token    BIGINT                     NOT NULL
);
