-- as ShedLock documents it
CREATE TABLE IF NOT EXISTS shedlock (
  name       VARCHAR(64)  NOT NULL,
  lock_until TIMESTAMP    NOT NULL,
  locked_at  TIMESTAMP    NOT NULL,
  locked_by  VARCHAR(255) NOT NULL,
  PRIMARY KEY (name)
);
-- as Spring Integration ships it
CREATE TABLE IF NOT EXISTS int_lock (
  lock_key      CHAR(36)     NOT NULL,
  region        VARCHAR(100) NOT NULL,
  client_id     CHAR(36),
  created_date  TIMESTAMP    NOT NULL,
  expired_after TIMESTAMP    NOT NULL,
  CONSTRAINT int_lock_pk PRIMARY KEY (lock_key, region)
);
