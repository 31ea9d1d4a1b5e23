-- Makes the partitions of p_days days from p_from on that a table of events or logs lacks; returns
-- how many. It raises 23514 where the default partition has rows of these days, and 55P03 where a
-- lock is not free in 100 ms. The default partition is read once, whatever the number of days: the
-- check that it has no such rows, gone again at the end, spares each attach its own reading.
-- Its indexes are those of the default partition, but that events have no use for one by id.
-- Nobody reads a partition but through its table: it has no grants, and the row security that
-- lenses.fn_guard_partition gives it. Row triggers come from the table.
create or replace function lenses.fn_add_partitions(
  p_parent regclass,
  p_from timestamptz,
  p_days integer
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
set lock_timeout = '100ms'
set default_tablespace = ''
as $$
declare
  v_days timestamptz[];
  v_day timestamptz;
  v_part text;
  v_schema name;
  v_table name;
  v_key name;
begin
  select n.nspname, c.relname into v_schema, v_table
  from pg_class as c
  inner join pg_namespace as n on n.oid = c.relnamespace
  where c.oid = p_parent;
  execute format('lock table only %s in share update exclusive mode', p_parent);
  v_days := array(
    select d.day
    from generate_series(p_from, p_from + (p_days - 1) * interval '1 day', '1 day') as d (day)
    where not exists (
      select from lenses.fn_partitions() as p
      where p.parent = p_parent and p.from_at < d.day + interval '1 day' and p.until_at > d.day)
    order by d.day);
  if v_days = '{}' then
    return 0;
  end if;

  foreach v_day in array v_days loop
    v_part := v_table || to_char(v_day, '_YYYYMMDD');
    execute format(
      'create table %I.%I (like %I.%I including defaults including constraints including indexes)',
      v_schema, v_part, v_schema, v_table || '_default');
    if v_table = 'workflow_run_events' then
      for v_key in
        select o.conname
        from pg_constraint as o
        where o.conrelid = format('%I.%I', v_schema, v_part)::regclass and o.contype in ('p', 'u')
      loop
        execute format('alter table %I.%I drop constraint %I', v_schema, v_part, v_key);
      end loop;
      execute format('alter table %I.%I add primary key (run_id, seq)', v_schema, v_part);
    end if;
    perform lenses.fn_guard_partition(format('%I.%I', v_schema, v_part)::regclass);
  end loop;

  execute format(
    'alter table %I.%I add constraint %I check (occurred_at < %L or occurred_at >= %L)',
    v_schema, v_table || '_default', v_table || '_days_check',
    v_days[1], v_days[cardinality(v_days)] + interval '1 day');
  foreach v_day in array v_days loop
    execute format(
      'alter table %s attach partition %I.%I for values from (%L) to (%L)',
      p_parent, v_schema, v_table || to_char(v_day, '_YYYYMMDD'),
      v_day, v_day + interval '1 day');
  end loop;
  execute format(
    'alter table %I.%I drop constraint %I',
    v_schema, v_table || '_default', v_table || '_days_check');
  return cardinality(v_days);
end;
$$;
