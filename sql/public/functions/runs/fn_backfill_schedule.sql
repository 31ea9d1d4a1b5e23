-- For the owner. Safe to repeat, and to run beside the tick.
create or replace function public.fn_backfill_schedule(
  p_schedule_id uuid,
  p_since timestamptz,
  p_dry_run boolean default false,
  p_until timestamptz default now()
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_until constant timestamptz := least(coalesce(p_until, now()), now());
begin
  perform lensers.fn_hold_lenser();
  perform lenses.fn_require_schedule(p_schedule_id);
  if p_since is null then
    raise exception using
      errcode = '22023',
      column = 'since',
      message = 'p_since is missing',
      hint = 'Give the first slot''s time.';
  elsif p_since < now() - interval '30 days 1 minute' then
    raise exception using
      errcode = '22023',
      column = 'since',
      message = format('p_since %s is further back than 30 days', p_since),
      hint = format('The earliest is %s.', now() - interval '30 days');
  elsif p_until > now() + interval '1 minute' then
    raise exception using
      errcode = '22023',
      column = 'until',
      message = format('p_until %s is in the future', p_until),
      hint = 'The dispatcher runs future slots.';
  elsif p_since > v_until then
    raise exception using
      errcode = '22023',
      column = 'since',
      message = format('p_since %s is after p_until %s', p_since, v_until),
      hint = 'Swap them: p_since is the earlier one.';
  end if;
  return lenses.fn_backfill(p_schedule_id, p_since, v_until, coalesce(p_dry_run, false));
end;
$$;

comment on function public.fn_backfill_schedule(uuid, timestamptz, boolean, timestamptz) is
  'Runs the slots of the caller''s schedule from p_since to p_until, both included, that have no '
  'run; all guards but the overlap apply. Returns {"dispatched", "skipped", "slots": '
  '[{"scheduled_for", "decision", "reason", "run_id"?}]}; with p_dry_run nothing changes and it '
  'is {"would_dispatch", "slots"}, or the error that the call would end with. Safe to repeat. '
  '22023: further back than 30 days, a time to come, or more than 10,000 slots; 53400: '
  'max_pending_runs_per_lenser; 42501: not the caller''s, or unknown.';
