-- Called by the triggers of every table that stores an approval policy. Raises 22023, see comment.
create or replace function lenses.fn_check_approval_policy(p_policy jsonb)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_policy('approval_policy', p_policy, '{
    "requiresApproval": {"type": "boolean"},
    "mode": {"type": "word", "values": ["every_node", "sensitive_actions", "on_block"]},
    "gates": {"type": "words", "max": 64, "length": 200},
    "expiresAfterMs": {"type": "integer", "min": 1, "max": 31622400000}
  }');
end;
$$;

comment on function lenses.fn_check_approval_policy(jsonb) is
  'Raises 22023 unless p_policy is an object of requiresApproval (boolean), mode (every_node, '
  'sensitive_actions, on_block), gates (at most 64 strings of 1 to 200 characters) and '
  'expiresAfterMs (1 to 366 days, in ms).';
