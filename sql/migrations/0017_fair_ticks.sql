-- squawk-ignore-file require-concurrent-index-creation, ban-drop-function
-- What a tick needs to tell who comes next, and when nobody ticked. An upgrade is one transaction.
alter table lenses.dispatch_ticks
  add column silent_since timestamptz,
  add column passes integer not null default 0,
  add column fresh_turns uuid[],
  add column conditional_turns uuid[],
  add column late_turns uuid[],
  add column parts text[],
  add column parts_again text[] not null default '{}',
  add column is_batch_next boolean not null default false,
  add column part_limit integer,
  add column batch_limit integer;

comment on column lenses.dispatch_settings.missed_grace is 'A slot is late if its due time is more than this before the first tick that ran at all after it.';

comment on column lenses.dispatch_ticks.silent_since is 'Start of the newest tick before this one, where that is more than missed_grace earlier (1970: there was none); NULL: no such gap. What fell due in it, the grace before this tick apart, is late.';
comment on column lenses.dispatch_ticks.passes is 'Batches that this tick, and those before it that were cut off, have handled since nothing was left.';
comment on column lenses.dispatch_ticks.fresh_turns is 'Tenants who are owed a turn, in order, while more schedules are due on time than one batch takes.';
comment on column lenses.dispatch_ticks.conditional_turns is 'As fresh_turns, of schedules with a condition.';
comment on column lenses.dispatch_ticks.late_turns is 'As fresh_turns, of schedules with late slots.';
comment on column lenses.dispatch_ticks.parts is 'Housekeeping that this tick has not looked at yet; NULL: none has been.';
comment on column lenses.dispatch_ticks.parts_again is 'Housekeeping of which more may be left; it takes turns with the batches.';
comment on column lenses.dispatch_ticks.is_batch_next is 'The next step is a batch, though housekeeping is left.';
comment on column lenses.dispatch_ticks.part_limit is 'Size of a piece of housekeeping, where a statement timeout has made it smaller.';
comment on column lenses.dispatch_ticks.batch_limit is 'Size of a batch, where a statement timeout has made it smaller.';

create index dispatch_ticks_silent_since_idx on lenses.dispatch_ticks (started_at, silent_since)
  where silent_since is not null;

-- The gaps of the ticks that are there.
update lenses.dispatch_ticks as t
set silent_since = g.earlier_at
from (
  select
    x.id,
    x.started_at,
    lag(x.started_at, 1, 'epoch') over (order by x.started_at, x.id) as earlier_at
  from lenses.dispatch_ticks as x
) as g
cross join lenses.dispatch_settings as d
where t.id = g.id and g.earlier_at < g.started_at - d.missed_grace;

alter table lenses.schedule_due
  add column has_condition boolean not null default false,
  add column is_backlog boolean not null default false,
  add column input_bytes integer not null default 0;

comment on column lenses.schedule_due.has_condition is 'The schedule has a condition, so that it comes after those without.';
comment on column lenses.schedule_due.is_backlog is 'Late slots of the schedule wait, so that it comes after those on time.';
comment on column lenses.schedule_due.input_bytes is 'Size of the schedule''s inputs as text, by which a batch is held to a size in memory.';

create index schedule_due_lenser_id_due_at_idx on lenses.schedule_due (lenser_id, due_at)
  where due_at is not null;

-- They decide about order and memory alone: a row that keeps the defaults is dispatched as well.
update lenses.schedule_due as d
set has_condition = q.has_condition, is_backlog = q.is_backlog, input_bytes = q.input_bytes
from (
  select
    s.id,
    s.pre_dispatch_condition is not null as has_condition,
    s.missed is not null as is_backlog,
    greatest(octet_length(s.inputs_template::text), octet_length(s.inputs_rotation::text))
      as input_bytes
  from lenses.workflow_schedules as s
) as q
where q.id = d.schedule_id and (q.has_condition or q.is_backlog or q.input_bytes > 2);

-- The new ones take the same calls: a session that is in the middle of the old code goes on with them.
drop function if exists lenses.fn_tick_housekeeping(bigint, timestamptz);
drop function if exists lenses.fn_end_pauses(timestamptz);
drop function if exists lenses.fn_reap_runs(timestamptz);
drop function if exists agents.fn_dispatch_gateway_crons(timestamptz);
drop function if exists agents.fn_reap_gateway_cron_runs(timestamptz);

comment on index lenses.dispatch_ticks_silent_since_idx is 'Gaps between ticks: which slots are late (fn_late_windows, fn_late_until).';
comment on index lenses.schedule_due_lenser_id_due_at_idx is 'The oldest due schedules of a tenant (fn_pick_due).';
