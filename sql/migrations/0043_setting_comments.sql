-- What lf-sql settings list says of each setting, in the words of who reads it.
comment on column lenses.dispatch_settings.is_frozen is
  'Whether nothing is dispatched; lf-sql freeze and unfreeze change it.';
comment on column lenses.dispatch_settings.frozen_reason is
  'Why, as lf-sql freeze was told.';
comment on column lenses.dispatch_settings.frozen_at is
  'Since when.';
comment on column lenses.dispatch_settings.default_on_overlap is
  'onOverlap of schedules that leave it out: skip, queue or replace.';
comment on column lenses.dispatch_settings.default_on_missed is
  'onMissed of schedules that leave it out: skip, run_once, backfill or spread.';
comment on column lenses.dispatch_settings.max_schedules_per_lenser is
  'Schedules that a tenant may have; none: no limit.';
comment on column lenses.dispatch_settings.max_gateway_crons_per_lenser is
  'Gateway crons that a tenant may have; none: no limit.';
comment on column lenses.dispatch_settings.max_pending_runs_per_lenser is
  'Runs of a tenant that may wait (pending_approval, pending); none: no limit. Slots beyond it '
  'wait too.';
comment on column lenses.dispatch_settings.max_template_bytes_per_lenser is
  'Bytes of a tenant''s templates, rotations, conditions and gateway payloads together; none: no '
  'limit.';
