-- Called by the triggers of every table that stores a failure policy. Raises 22023, see comment. A
-- fallback id without its mode is refused: a caller that names a fallback expects it to be used.
create or replace function lenses.fn_check_failure_policy(p_policy jsonb)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_policy('failure_policy', p_policy, '{
    "mode": {"type": "word", "values": ["isolate", "halt", "fallback"]},
    "fallbackAssigneeId": {"type": "uuid"}
  }');
  if (p_policy ->> 'mode' is not distinct from 'fallback') <> (p_policy ? 'fallbackAssigneeId') then
    raise exception using
      errcode = '22023',
      column = 'failure_policy.fallbackAssigneeId',
      message = case
        when p_policy ? 'fallbackAssigneeId'
        then format(
          'failure_policy: "fallbackAssigneeId" has no effect with mode "%s"',
          coalesce(p_policy ->> 'mode', 'isolate')
        )
        else 'failure_policy: mode "fallback" needs "fallbackAssigneeId"'
      end,
      hint = 'Give both, {"mode": "fallback", "fallbackAssigneeId": "<its uuid>"}, or neither.';
  end if;
end;
$$;

comment on function lenses.fn_check_failure_policy(jsonb) is
  'Raises 22023 unless p_policy is an object of mode (isolate, halt, fallback) and, with '
  'fallback and only there, fallbackAssigneeId (uuid). The table''s trigger checks that the '
  'assignee is the tenant''s.';
