-- At the head of every script that lf-sql writes for others to run: nothing of ours is read or called before it is
-- known whose it is, nor installed beside roles that undo it. Behind `set search_path = pg_catalog, pg_temp`.
-- @strangers@ and @isolation@ are the queries of that name in sql/queries.
do $strangers$
declare
  v_found record;
begin
  for v_found in
@strangers@
  loop
    raise exception '% %: lf-sql reads and calls nothing here', v_found.what, v_found.why
      using hint = 'As a superuser or its owner: ' || v_found.remedy || '.', errcode = '42501';
  end loop;
  for v_found in
@isolation@
  loop
    continue when not v_found.is_fatal;
    raise exception '% %: %; lf-sql is not installed beside it', v_found.kind, v_found.identity, v_found.problem
      using hint = 'As a superuser: ' || v_found.remedy || '.', errcode = '42501';
  end loop;
end
$strangers$;
