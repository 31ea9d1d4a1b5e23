-- The pause that a Retry-After header asks for, seconds or a date of HTTP, a day at most; NULL
-- where there is none that can be read.
create or replace function lenses.fn_retry_after(p_headers jsonb, p_now timestamptz)
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, DMY'
as $$
declare
  v_text text;
begin
  if jsonb_typeof(p_headers) <> 'object' then
    return null;
  end if;
  v_text := (
    select btrim(h.value) from jsonb_each_text(p_headers) as h
    where lower(h.key) = 'retry-after' limit 1);
  if v_text ~ '^[0-9]+$' then
    return least(left(v_text, 20)::numeric, 86400) * interval '1 second';
  elsif v_text
    ~ '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$' then
    return least(greatest(v_text::timestamptz - p_now, interval '0'), interval '1 day');
  end if;
  return null;
exception when data_exception then
  return null;
end;
$$;

comment on function lenses.fn_retry_after(jsonb, timestamptz) is
  'How long the header Retry-After of an answer asks to wait, from p_now on: at most a day; NULL '
  'where it says nothing.';
