-- Raises 22023 for what is no name of a cell.
create or replace function lenses.fn_check_cell_name(p_to text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_to ~ '^[a-z0-9_-]{1,63}$' is not true then
    raise exception using
      errcode = '22023',
      column = 'to',
      message = format(
        'the name of a cell has 1 to 63 of a-z, 0-9, _ and -, not %s',
        coalesce('"' || left(p_to, 80) || '"', 'NULL')),
      hint = 'For example cell-2.';
  end if;
end;
$$;
