-- as ShedLock documents it
CREATE TABLE IF NOT EXISTS shedlock (
  name       VARCHAR(64)  NOT NULL,
  lock_until TIMESTAMP(3) NOT NULL,
  locked_at  TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  locked_by  VARCHAR(255) NOT NULL,
  PRIMARY KEY (name)
);
-- as Spring Integration ships it; upper case, because table names have a case here
CREATE TABLE IF NOT EXISTS INT_LOCK (
  LOCK_KEY      CHAR(36)     NOT NULL,
  REGION        VARCHAR(100) NOT NULL,
  CLIENT_ID     CHAR(36),
  CREATED_DATE  DATETIME(6)  NOT NULL,
  EXPIRED_AFTER DATETIME(6)  NOT NULL,
  CONSTRAINT INT_LOCK_PK PRIMARY KEY (LOCK_KEY, REGION)
);
