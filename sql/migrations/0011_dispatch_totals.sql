-- What purged ticks have counted, so that counters never go back.
create table lenses.dispatch_totals (
  id boolean not null default true,
  ticks bigint not null default 0,
  dispatched bigint not null default 0,
  skipped jsonb not null default '{}',
  deferred bigint not null default 0,
  failed bigint not null default 0,
  lag jsonb not null default '{}',
  constraint dispatch_totals_pkey primary key (id),
  constraint dispatch_totals_id_check check (id)
);

comment on table lenses.dispatch_totals is 'One row: the sums of all ticks that have been purged from lenses.dispatch_ticks, columns as there.';

insert into lenses.dispatch_totals default values;
