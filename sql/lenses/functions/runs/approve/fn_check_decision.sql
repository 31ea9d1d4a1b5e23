-- Raises 22023 where p_decision is not a decision, or p_note is too long.
create or replace function lenses.fn_check_decision(p_decision text, p_note text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_decision is null or p_decision not in ('approved', 'rejected') then
    raise exception using
      errcode = '22023',
      column = 'decision',
      message = format(
        'p_decision must be approved or rejected, not %s',
        coalesce('"' || left(p_decision, 60) || '"', 'NULL')
      ),
      hint = 'Use approved or rejected.';
  end if;
  perform lenses.fn_check_text(p_note, 'note', 2000);
end;
$$;
