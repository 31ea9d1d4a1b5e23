begin;
select plan(20);

select is(automation.fn_instant(t), s, t)
from (values
  ('1970-01-01T00:00:00Z', 0::numeric),
  ('1970-01-01T00:00Z', 0),
  ('1970-01-01T01:00:00+01:00', 0),
  ('1969-12-31T23:00:00-0100', 0),
  ('1970-01-02T00:00:00.5+00', 86400.5),
  ('1969-12-31T23:59:59.999Z', -0.001),
  ('1970-01-01T00:00:60Z', 60),
  ('2000-03-01T00:00:00Z', 951868800),
  ('0001-01-01T00:00:00Z', -62135596800),
  ('9999-12-31T23:59:59Z', 253402300799)
) v (t, s);
select is(automation.fn_instant(t), null, 'no instant: ' || t)
from unnest(array[
  '2026-01-01', '2026-01-01T00:00:00', '2026-01-01 00:00:00Z', '2026-02-29T00:00:00Z',
  '2026-13-45T99:99:99Z', '2026-01-01T24:00:00Z', '0000-01-01T00:00:00Z', 'infinity', ''
]) t;
select is(automation.fn_instant(null), null, 'NULL');

select * from finish();
rollback;
