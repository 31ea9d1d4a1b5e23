-- The header traceparent of W3C Trace Context (https://www.w3.org/TR/trace-context/) for an attempt
-- of a run, computed instead of stored. A uuid has the 16 bytes of a trace id. W3C forbids ids of
-- zeros alone, so a 1 stands for those. lf_sql.traces computes the same.
create or replace function lenses.fn_run_traceparent(p_run_id uuid, p_attempt integer)
returns text
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select concat_ws('-',
  '00',
  coalesce(nullif(replace(p_run_id::text, '-', ''), repeat('0', 32)), lpad('1', 32, '0')),
  coalesce(
    nullif(
      left(encode(sha256(convert_to(p_run_id || ':' || p_attempt, 'UTF8')), 'hex'), 16),
      repeat('0', 16)),
    lpad('1', 16, '0')),
  '01')
$$;

comment on function lenses.fn_run_traceparent(uuid, integer) is
  'The header traceparent of W3C Trace Context for attempt p_attempt of the run p_run_id: '
  '00-<trace id>-<parent id>-01. The trace id is the run''s id, so that all of its attempts are '
  'one trace; the parent id is the first 8 bytes of the SHA-256 of RUN:ATTEMPT, its webhook-id; '
  'the flag says that it is sampled. NULL for NULL.';
