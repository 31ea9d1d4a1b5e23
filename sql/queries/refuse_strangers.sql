-- At the head of every script that lf-sql writes for others to run: nothing of ours is read or called before it is
-- known whose it is. Behind `set search_path = pg_catalog, pg_temp`. @query@ is sql/queries/strangers.sql.
do $strangers$
declare
  v_found record;
begin
  for v_found in
@query@
  loop
    raise exception '% %: lf-sql reads and calls nothing here', v_found.what, v_found.why
      using hint = 'As a superuser or its owner: ' || v_found.remedy || '.', errcode = '42501';
  end loop;
end
$strangers$;
