-- Whether a JSON value is written otherwise than before. As jsonb, 2 equals 2.0 and any number of
-- zeros behind it, which is no whole number and may be too large. Values that differ are not
-- written out: a short one may have a very long text.
create or replace function lenses.fn_is_changed(p_new jsonb, p_old jsonb)
returns boolean
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select case
  when p_new is distinct from p_old then true
  else p_new::text is distinct from p_old::text
end
$$;

comment on function lenses.fn_is_changed(jsonb, jsonb) is
  'True where the text of p_new is not the text of p_old; NULLs are equal.';
