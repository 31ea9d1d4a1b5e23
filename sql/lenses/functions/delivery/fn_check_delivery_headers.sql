-- Raises 22023 unless the headers that an operator names are an object of strings, without one that
-- the request sets itself, and without a character that could end a header.
create or replace function lenses.fn_check_delivery_headers(p_headers jsonb)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_header record;
begin
  if jsonb_typeof(p_headers) <> 'object' or octet_length(p_headers::text) > 16384 then
    raise exception using
      errcode = '22023',
      message = format(
        'delivery.headers must be an object of strings, at most 16384 bytes, not %s',
        left(p_headers::text, 60)
      ),
      hint = 'For example {"Authorization": "Bearer …"}.';
  end if;
  for v_header in select e.key, e.value from jsonb_each(p_headers) as e loop
    if v_header.key !~ '^[A-Za-z0-9!#$%&''*+.^_`|~-]{1,100}$'
      or jsonb_typeof(v_header.value) <> 'string'
      or (v_header.value #>> '{}') ~ '[[:cntrl:]]'
    then
      raise exception using
        errcode = '22023',
        message = format(
          'delivery.headers: "%s" is no header with a value of one line', left(v_header.key, 60)
        ),
        hint = 'Names are letters, digits and -; values are strings.';
    end if;
    if lower(v_header.key)
      ~ '^(content-.*|host|connection|traceparent|transfer-encoding|webhook-.*)$'
    then
      raise exception using
        errcode = '22023',
        message = format(
          'delivery.headers: "%s" is set by the request itself', left(v_header.key, 60)
        ),
        hint = 'Leave it out.';
    end if;
  end loop;
end;
$$;
