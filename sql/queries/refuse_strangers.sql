-- At the head of every script that lf-sql writes for others to run: refuses to read or call
-- anything of ours before its owner is known, and to install beside roles that break the isolation.
-- Behind `set search_path = pg_catalog, pg_temp`. @strangers@ and @isolation@ are the queries of
-- that name in sql/queries.
do $strangers$
declare
  v_found record;
begin
  -- Nobody else can create a name that was created and dropped here until this transaction ends, so
  -- an object that is missing now stays missing while the answer is used.
  for v_found in
    select w.name
    from unnest(array['lf_sql', 'lensers', 'lenses', 'agents', 'automation']) as w (name)
    where to_regnamespace(w.name) is null
  loop
    execute format('create schema %I', v_found.name);
    execute format('drop schema %I', v_found.name);
  end loop;
  for v_found in
@strangers@
  loop
    raise exception using
      errcode = '42501',
      message = pg_catalog.format(
        '%s %s: lf-sql reads and calls nothing here', v_found.what, v_found.why
      ),
      hint = 'As a superuser or its owner: ' || v_found.remedy || '.';
  end loop;
  for v_found in
@isolation@
  loop
    continue when not v_found.is_fatal;
    raise exception using
      errcode = '42501',
      message = pg_catalog.format(
        '%s %s: %s; lf-sql is not installed beside it',
        v_found.kind, v_found.identity, v_found.problem
      ),
      hint = 'As a superuser: ' || v_found.remedy || '.';
  end loop;
end;
$strangers$;
