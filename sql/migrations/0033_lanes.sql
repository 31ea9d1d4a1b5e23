-- squawk-ignore-file constraint-missing-not-valid, adding-field-with-default, ban-drop-function
-- Several drivers that share a minute's work. An upgrade is one transaction.
alter table lenses.dispatch_settings
  add column dispatch_lanes integer not null default 1
    constraint dispatch_settings_dispatch_lanes_check check (dispatch_lanes between 1 and 16);

comment on column lenses.dispatch_settings.dispatch_lanes is 'How many drivers share a minute''s work side by side: one pg_cron job each (lf-sql install registers them), or as many connections of lf-sql worker.';

alter table lenses.dispatch_ticks
  add column lane smallint not null default 1,
  add column round_at timestamptz;

comment on column lenses.dispatch_ticks.lane is 'Which of the lanes (dispatch_settings.dispatch_lanes) ticked.';
comment on column lenses.dispatch_ticks.round_at is 'Ticks of several lanes with the same instant share one round: what one of them has taken the others leave to the next round.';

alter table lenses.worker_heartbeats add column lanes integer;

comment on column lenses.worker_heartbeats.lanes is 'How many lanes the worker has connections for, its own included; NULL: it does not say.';

drop procedure if exists lenses.sp_dispatch_tick();
drop function if exists lenses.fn_tick_begin(text, integer);
drop function if exists lenses.fn_open_tick(text, timestamptz);
drop function if exists lenses.fn_begin_tick_at(text, timestamptz);
drop function if exists lenses.fn_worker_heartbeat(text, text, integer, boolean, text);
