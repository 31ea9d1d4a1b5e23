-- Which policies (an object of the four, NULL for those left out) are given explicitly although
-- they equal their default. A writer that knows says so in p_explicit. Otherwise a policy that is
-- written now counts as explicit, and an untouched one keeps its state. p_old is NULL for an
-- INSERT.
create or replace function lenses.fn_explicit_defaults(
  p_new jsonb,
  p_explicit text[],
  p_old jsonb,
  p_old_explicit text[]
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
begin
  select e.name into v_unknown
  from unnest(p_explicit) as e (name)
  where not lenses.fn_default_policies() ? coalesce(e.name, '')
  limit 1;
  if found then
    raise exception using
      errcode = '22023',
      column = 'explicit_defaults',
      message = format(
        'explicit_defaults names no policy: %s',
        coalesce('"' || left(v_unknown, 60) || '"', 'NULL')),
      hint = 'Leave the column out, or name approval_policy, retry_policy, failure_policy or '
        'queue_policy.';
  end if;
  return array(
    select d.key
    from jsonb_each(lenses.fn_default_policies()) as d
    where p_new -> d.key = d.value
      and case
        when p_explicit is distinct from p_old_explicit then d.key = any (p_explicit)
        when p_new -> d.key is distinct from p_old -> d.key then true
        else d.key = any (p_old_explicit)
      end
    order by d.key
  );
end;
$$;
