-- A row's own policy; NULL where it was left out and so has its default.
create or replace function lenses.fn_own_policy(p_name text, p_policy jsonb, p_explicit text[])
returns jsonb
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_policy = lenses.fn_default_policies() -> p_name and not p_name = any (p_explicit)
      then '{}'::jsonb
    else p_policy
  end
$$;
