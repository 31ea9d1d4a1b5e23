-- owner: lf_sql_engine
-- For lf-sql cells: tenants leave this cell for the cell p_to. From the commit on they are no
-- callers here, and nothing of theirs is due, waits or is claimed. What was live lies in
-- lenses.departed_rows as it was. Returns those that have departed to p_to, now or before, so that
-- it may be repeated. 55006, and nothing is changed, while runs of theirs are running.
-- p_is_copy: for a split, in the new cell: the tenants live in p_to, and what is here is a copy of
-- them. Whatever is due, waits or is running ends without a word, since it goes on there, and
-- nothing is kept: such a tenant comes by fn_arrive_tenant, which replaces the copy. The caller
-- keeps RPCs away.
create or replace function lenses.fn_depart_tenants(
  p_lenser_ids uuid[],
  p_to text,
  p_is_copy boolean default false
)
returns uuid[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
begin
  perform lenses.fn_check_cell_name(p_to);
  if not p_is_copy then
    perform pg_advisory_xact_lock(lensers.fn_tenant_lock(q.id))
    from (
      select u.id from unnest(p_lenser_ids) as u (id) where u.id is not null order by u.id) as q;
  end if;
  perform lenses.fn_lock_tenants(p_lenser_ids);
  v_ids := array(
    select p.id from lensers.profiles as p
    where p.id = any (p_lenser_ids) and p.departed_at is null
    order by p.id);
  if not p_is_copy then
    perform lenses.fn_refuse_running(v_ids);
  end if;
  update lensers.profiles as p
  set departed_at = now(), departed_to = p_to,
    departure_settled_at = case when p_is_copy then now() end
  where p.id = any (v_ids);
  perform lenses.fn_put_aside(v_ids, p_to, p_is_copy);
  return array(
    select p.id from lensers.profiles as p
    where p.id = any (p_lenser_ids) and p.departed_to = p_to
    order by p.id);
end;
$$;

comment on function lenses.fn_depart_tenants(uuid[], text, boolean) is
  'Tenants leave this cell for the cell p_to: no caller, no schedule and no waiting run of theirs '
  'is here any more. Returns those that have departed to p_to, now or before. 55006 while runs of '
  'theirs are running; 22023 for a tenant or a name that is none. p_is_copy: they live in p_to, '
  'and their copy here ends without a word, running runs too.';
