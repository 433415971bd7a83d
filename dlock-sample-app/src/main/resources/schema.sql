-- for H2 and PostgreSQL; runs at every start of every instance
create table if not exists stock (
  product varchar(100) primary key,
  pieces integer not null
);

create table if not exists orders (
  id uuid primary key,
  product varchar(100) not null references stock,
  quantity integer not null,
  -- the fencing token of the lock, null without a lock: "order by token" is the order of the sales
  token bigint,
  instance varchar(100) not null
);
