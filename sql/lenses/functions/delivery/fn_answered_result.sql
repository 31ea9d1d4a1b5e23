-- The result of a run in the body of an answer: a JSON object of at most 1 MB. NULL where it is
-- none.
create or replace function lenses.fn_answered_result(p_content text)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result jsonb;
begin
  if p_content is null or octet_length(p_content) > 1048576 then
    return null;
  end if;
  v_result := p_content::jsonb;
  perform lenses.fn_check_json(v_result, 'result', 1048576, 64, 50000);
  return case when jsonb_typeof(v_result) = 'object' then v_result end;
exception when data_exception or program_limit_exceeded then
  return null;
end;
$$;
