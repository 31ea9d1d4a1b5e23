begin;

select plan(8);

select lives_ok(
  'select lenses.fn_check_timezone(''Europe/Berlin'')',
  'a name'
);

select lives_ok(
  'select lenses.fn_check_timezone(''UTC'')',
  'UTC'
);

select lives_ok(
  'select lenses.fn_check_timezone(''Etc/GMT+12'')',
  'a fixed offset of the database'
);

select throws_like(
  'select lenses.fn_check_timezone(''UTC+8'')',
  '%"UTC+8"%',
  'a POSIX string'
);

select throws_like(
  'select lenses.fn_check_timezone(''PST'')',
  '%"PST"%',
  'an abbreviation'
);

select throws_like(
  'select lenses.fn_check_timezone(''europe/berlin'')',
  '%"europe/berlin"%',
  'another spelling'
);

select throws_like(
  'select lenses.fn_check_timezone(''posix/Europe/Berlin'')',
  '%"posix/Europe/Berlin"%',
  'a copy'
);

select throws_like(
  'select lenses.fn_check_timezone(''localtime'')',
  '%"localtime"%',
  'the server''s own'
);

select * from finish();

rollback;
