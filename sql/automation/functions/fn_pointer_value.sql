-- The value that a JSON Pointer names, or the JSON null where there is none. It goes token by
-- token, because #> takes "-1", "01" and " 1" as indexes. It serves fn_eval_filter, so it uses
-- expressions only and raises no error for a bad pointer.
create or replace function automation.fn_pointer_value(p_payload jsonb, p_path text)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb := p_payload;
  v_token text;
begin
  foreach v_token in array (string_to_array(p_path, '/'))[2:] loop
    exit when v_value is null;
    if jsonb_typeof(v_value) = 'array' then
      v_value := case when v_token ~ '^(0|[1-9][0-9]{0,8})$' then v_value -> v_token::int end;
    else
      v_value := v_value -> replace(replace(v_token, '~1', '/'), '~0', '~');
    end if;
  end loop;
  return coalesce(v_value, 'null');
end;
$$;
