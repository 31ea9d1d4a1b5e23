#!/usr/bin/env bash
# `postgres` (the default): makes the cluster where there is none, brings lf-sql to this image's version, then serves.
# Anything else is run as it stands: docker run lf-sql lf-sql status
# POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE: the superuser's password, wanted at the first start. POSTGRES_DB: the
# database (app), fixed by the first start.
set -euo pipefail

[ "${1:-}" = postgres ] || exec "$@"

socket=/var/run/postgresql
database=${POSTGRES_DB:-app}
export LF_SQL_DSN="host=$socket user=postgres dbname=$database"

first_start() {
  local password=${POSTGRES_PASSWORD:-}
  if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
    password=$(<"$POSTGRES_PASSWORD_FILE")
  fi
  if [ -z "$password" ]; then
    echo "set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE: the superuser's password" >&2
    exit 1
  fi
  initdb --pgdata="$PGDATA" --username=postgres --encoding=UTF8 --locale=C.UTF-8 --data-checksums \
    --auth-local=peer --auth-host=scram-sha-256 --pwfile=<(printf '%s\n' "$password") >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  cat >>"$PGDATA/postgresql.conf" <<CONF
listen_addresses = '*'
unix_socket_directories = '$socket'
shared_preload_libraries = 'pg_cron'
cron.database_name = '$database'
cron.use_background_workers = on
max_worker_processes = 16
timezone = 'UTC'
log_timezone = 'UTC'
CONF
}

[ -s "$PGDATA/PG_VERSION" ] || first_start

# No client reaches the server until lf-sql is in place.
pg_ctl --pgdata="$PGDATA" --silent --wait --log="$PGDATA/start.log" --options="-c listen_addresses=''" start >/dev/null ||
  { cat "$PGDATA/start.log" >&2; exit 1; }
if ! psql --no-psqlrc --quiet --dbname="$LF_SQL_DSN" --command='' 2>/dev/null; then
  createdb --host="$socket" --username=postgres "$database"
fi
lf-sql install
pg_ctl --pgdata="$PGDATA" --silent --wait --mode=fast stop >/dev/null

exec "$@"
