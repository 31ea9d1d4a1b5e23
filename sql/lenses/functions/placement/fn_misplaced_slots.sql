-- owner: lf_sql_engine
-- Active schedules whose next slot stands where no tick, save or edit of the rule would put it:
-- missing though slots are left (DEAD), no slot of the rule (ZONE_CHANGED, NOT_A_SLOT), or beyond
-- the first slot from now on that is not used up (PARKED). A next slot that was written on purpose
-- is listed too, although the dispatcher keeps it, and so is one whose due row says otherwise. It
-- searches once for each expression, and more only for what it finds. p_lenser_id narrows it to one
-- tenant. CASE keeps the planner from computing slots in zones that are gone.
create or replace function lenses.fn_misplaced_slots(p_lenser_id uuid)
returns table (id uuid, label text, detail text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set timezone = 'UTC'
as $$
with zones as materialized (
  select z.name, lenses.fn_has_zone(z.name) as is_known
  from (select distinct s.timezone as name from lenses.workflow_schedules as s) as z
),

moments as materialized (
  select now() as at
),

-- Equal expressions are searched once.
equals as materialized (
  select e.cron_expr, e.timezone, case when z.is_known then lenses.fn_next_slot(
    e.cron_spec, e.timezone, null, null, null, null, q.at) end as first_slot
  from (
    select s.cron_expr, s.timezone, (array_agg(s.cron_spec))[1] as cron_spec
    from lenses.workflow_schedules as s
    where s.is_active and (p_lenser_id is null or s.lenser_id = p_lenser_id)
      and s.cron_expr is not null and s.start_at is null and s.end_at is null
    group by s.cron_expr, s.timezone
  ) as e
  inner join zones as z on z.name = e.timezone
  cross join moments as q
),

suspects as materialized (
  select s as schedule, s.next_run_at, n.first_slot, q.at
  from lenses.workflow_schedules as s
  inner join lensers.profiles as p on p.id = s.lenser_id and p.departed_at is null
  inner join zones as z on z.name = s.timezone
  cross join moments as q
  left join equals as e
    on e.cron_expr = s.cron_expr and e.timezone = s.timezone
    and s.start_at is null and s.end_at is null
  cross join lateral (
    select case
      when e.cron_expr is not null then e.first_slot
      when z.is_known or s.interval_ms is not null then lenses.fn_next_slot(
        s.cron_spec, s.timezone, s.interval_ms, s.created_at, s.start_at, s.end_at, q.at)
    end as first_slot
  ) as n
  where s.is_active and (p_lenser_id is null or s.lenser_id = p_lenser_id)
    and (s.next_run_at is null or s.next_run_at > q.at)
    and (z.is_known or s.interval_ms is not null)
    and n.first_slot is distinct from s.next_run_at
),

judged as materialized (
  select
    p.*,
    lenses.fn_free_slot(p.schedule, p.at, p.at) as free_slot,
    case when p.next_run_at is not null then lenses.fn_next_slot(
      (p.schedule).cron_spec, (p.schedule).timezone, (p.schedule).interval_ms,
      (p.schedule).created_at, (p.schedule).start_at, (p.schedule).end_at,
      p.next_run_at - interval '1 microsecond') is not distinct from p.next_run_at end as is_slot
  from suspects as p
)

select
  (j.schedule).id,
  case
    when j.next_run_at is null then 'DEAD'
    when not j.is_slot and (j.schedule).interval_ms is null and (j.schedule).timezone <> 'UTC'
      then 'ZONE_CHANGED'
    when not j.is_slot then 'NOT_A_SLOT'
    else 'PARKED'
  end,
  case
    when j.next_run_at is null then
      format('is active and has no next run, though the next slot is %s',
        to_char(j.free_slot, 'YYYY-MM-DD HH24:MI UTC'))
    when not j.is_slot then
      format('next_run_at %s is no slot of %s: %sit was written by hand',
        to_char(j.next_run_at, 'YYYY-MM-DD HH24:MI:SS UTC'),
        coalesce(format('%s in %s', (j.schedule).cron_expr, (j.schedule).timezone), 'its interval'),
        case when (j.schedule).interval_ms is null and (j.schedule).timezone <> 'UTC'
          then 'the zone''s rules have changed since it was computed, or ' else '' end)
    else
      format('next_run_at %s lies beyond the next slot, %s: nothing runs until then',
        to_char(j.next_run_at, 'YYYY-MM-DD HH24:MI UTC'),
        to_char(j.free_slot, 'YYYY-MM-DD HH24:MI UTC'))
  end
from judged as j
where case
  when j.next_run_at is null then j.free_slot is not null
  when not j.is_slot then true
  else j.next_run_at > j.free_slot
end
union all
select
  s.id, 'PARKED',
  format('due_at %s lies beyond its slot, %s: nothing runs until then',
    to_char(s.due_at, 'YYYY-MM-DD HH24:MI UTC'), to_char(s.next_run_at, 'YYYY-MM-DD HH24:MI UTC'))
from lenses.workflow_schedules as s
inner join lensers.profiles as h on h.id = s.lenser_id and h.departed_at is null
cross join moments as q
where s.is_active and (p_lenser_id is null or s.lenser_id = p_lenser_id)
  -- A slot that waits or failed is looked at again within eight minutes.
  and s.due_at > q.at + interval '10 minutes'
  and s.due_at > lenses.fn_slot_due(s.id, s.next_run_at, s.jitter_ms) + interval '10 minutes'
  and not exists (select from suspects as p where (p.schedule).id = s.id)
union all
select
  s.id, 'PARKED',
  format('its row of lenses.schedule_due says %s, not %s: the dispatcher goes by that row',
    coalesce(to_char(d.due_at, 'YYYY-MM-DD HH24:MI UTC'), 'nothing'),
    to_char(s.due_at, 'YYYY-MM-DD HH24:MI UTC'))
from lenses.workflow_schedules as s
inner join lensers.profiles as h on h.id = s.lenser_id and h.departed_at is null
left join lenses.schedule_due as d on d.schedule_id = s.id and d.lenser_id = s.lenser_id
where s.is_active and (p_lenser_id is null or s.lenser_id = p_lenser_id)
  and s.due_at is not null and d.due_at is distinct from s.due_at
$$;
