-- only what is missing: a restart does not fill up the stock
insert into stock (product, pieces)
  select 'book', 20 where not exists (select 1 from stock where product = 'book');
insert into stock (product, pieces)
  select 'pen', 100 where not exists (select 1 from stock where product = 'pen');
