-- The line about the minute job, from facts that only the connected role can see
-- (sql/queries/health_facts.sql and, where the extension is in this database, health_job.sql). It
-- reads no tables, and names the first trouble that applies. p_is_driven: something else ticks, so
-- that a missing job is not bad news. Where the jobs are registered from another database, jobs_in
-- is that one and job_name what the job is called there.
create or replace function lenses.fn_health_pg_cron(p_facts jsonb, p_is_driven boolean)
returns table (state text, label text, detail text, advice text)
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
with f as (
  select
    p_facts -> 'pg_cron' as c,
    p_facts -> 'job' as j,
    p_facts -> 'last_run' as r,
    p_facts ->> 'database' as database,
    coalesce(nullif(p_facts ->> 'job_name', ''), 'dispatch-scheduled-workflows') as job_name,
    'run lf-sql install' || coalesce(
      ' --cron-dsn with the DSN of database ' || nullif(p_facts ->> 'jobs_in', ''), ''
    ) as install
)

select
  case
    when t.label in ('registered', 'not asked') then 'ok'
    when not p_is_driven then 'bad'
    else 'warn'
  end,
  t.label,
  t.detail,
  case
    when t.label in ('registered', 'not asked') then null
    when p_is_driven then 'nothing to do while another driver ticks; else ' || t.advice
    else t.advice
  end
from f
cross join lateral (
  values
  (
    1, p_facts is null, 'not asked', 'the caller gave no facts about pg_cron', null
  ),
  (
    2, not (f.c ->> 'is_available')::boolean and not (f.c ->> 'is_installed')::boolean, 'missing',
    'pg_cron is not installed on this server',
    'install the package postgresql-NN-cron, add pg_cron to shared_preload_libraries, restart, and '
    'run lf-sql install; '
    || 'or run lf-sql worker'
  ),
  (
    3, (f.c ->> 'is_preloaded')::boolean is false, 'not preloaded',
    'pg_cron is on this server, but not in shared_preload_libraries',
    'add pg_cron to shared_preload_libraries, restart the server, and run lf-sql install; or run '
    'lf-sql worker'
  ),
  (
    4, not (f.c ->> 'is_installed')::boolean
      and f.c ->> 'cron_database' <> f.database, 'in another database',
    format('pg_cron lives in database %s, and this is %s', f.c ->> 'cron_database', f.database),
    format(
      'run lf-sql install --cron-dsn with the DSN of database %s (it registers the jobs there, by '
      || 'cron.schedule_in_database), and this command with it; or set cron.database_name = %L '
      'and restart; '
      || 'or run lf-sql worker',
      f.c ->> 'cron_database', f.database
    )
  ),
  (
    5, not (f.c ->> 'is_installed')::boolean, 'missing',
    'pg_cron is on this server, but not created in this database',
    'run lf-sql install as a role that may create the extension, or: create extension pg_cron; and '
    'lf-sql install again'
  ),
  (
    6, not coalesce((f.c ->> 'can_read')::boolean, false), 'not visible',
    'this role may not read cron.job',
    'grant usage on schema cron to the role that installs, and run lf-sql install; or ask health '
    'as that role'
  ),
  (
    7, f.j is null or jsonb_typeof(f.j) = 'null', 'job missing',
    format('there is no job %s that this role can see', f.job_name),
    f.install || '; it registers the job'
  ),
  (
    8, not (f.j ->> 'has_role')::boolean, 'owner gone',
    format('the job belongs to role %s, which does not exist', f.j ->> 'username'),
    format(
      'as a superuser: delete from cron.job where jobid = %s; then run lf-sql install as a role '
      'that stays',
      f.j ->> 'jobid'
    )
  ),
  (
    9, not (f.j ->> 'active')::boolean, 'job inactive', 'the job is there, but switched off',
    f.install || '; it registers the job again'
  ),
  (
    10, f.j ->> 'database' <> f.database, 'job altered',
    format('the job runs in database %s, and this is %s', f.j ->> 'database', f.database),
    f.install || '; it registers the job again'
  ),
  (
    11, f.j ->> 'schedule' <> '* * * * *'
      or f.j ->> 'command' not like 'do $%call lenses.sp_dispatch_tick();%',
    'job altered',
    format('the job is %L at %L', left(f.j ->> 'command', 100), f.j ->> 'schedule'),
    f.install || '; it registers the job again'
  ),
  (
    12, f.c ->> 'uses_workers' is distinct from 'on'
    and (f.j ->> 'nodeport' <> f.c ->> 'port' or f.j ->> 'nodename' <> f.c ->> 'host'),
    'job altered',
    format(
      'the job connects to %s on port %s, and this server''s are %s and %s', f.j ->> 'nodename',
      f.j ->> 'nodeport',
      coalesce(f.c ->> 'host', 'not visible'), f.c ->> 'port'
    ),
    f.install || '; it registers the job again'
  ),
  (
    13, not (f.j ->> 'can_login')::boolean, 'not permitted',
    format('role %s, to whom the job belongs, may not log in, and pg_cron logs in as it',
      f.j ->> 'username'),
    format(
      'run lf-sql install as a role that may log in, or: alter role %s login',
      quote_ident(f.j ->> 'username')
    )
  ),
  (
    14, not (f.j ->> 'can_tick')::boolean, 'not permitted',
    format('role %s, to whom the job belongs, may not call lenses.sp_dispatch_tick()',
      f.j ->> 'username'),
    'run lf-sql install; it grants again what was lost'
  ),
  (
    15, f.r ->> 'status' = 'failed'
      and f.r ->> 'return_message' like 'connection failed%', 'connection failed',
    format('pg_cron cannot connect to this server (cron.host is %s)',
      coalesce(nullif(f.c ->> 'host', ''), 'not visible')),
    'as a superuser: alter system set cron.use_background_workers = on; then restart the server '
    '(pg_cron reads it only '
    || 'then, and connects to nothing any more); or run lf-sql worker'
  ),
  (
    16, not coalesce((f.c ->> 'has_launcher')::boolean, true), 'launcher dead',
    'the pg_cron launcher is not running: jobs are there and never start',
    'restart the server (it comes back only so), or run lf-sql worker meanwhile'
  ),
  (
    17, f.r ->> 'status' = 'failed' and (f.r ->> 'age')::numeric < 600, 'job fails',
    'its last run failed'
      || coalesce(': ' || nullif(btrim(left(f.r ->> 'return_message', 200)), ''), ''),
    'see cron.job_run_details; lf-sql verify says what is off in the installation'
  ),
  (
    18, true, 'registered',
    format('job %s, every minute, as %s', f.j ->> 'jobid', f.j ->> 'username'), null
  )
) as t (rank, applies, label, detail, advice)
where t.applies
order by t.rank
limit 1
$$;

comment on function lenses.fn_health_pg_cron(jsonb, boolean) is
  'One line about the minute job, judged from p_facts (NULL: not asked). state ok, warn or bad.';
