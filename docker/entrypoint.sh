#!/usr/bin/env bash
# `postgres` (the default): makes the cluster where there is none, brings lf-sql to this image's version, then serves.
# Options alone are the server's: docker run lf-sql -c work_mem=64MB. Anything else is run as it stands:
# docker run lf-sql lf-sql status. After the first install the files of $INITDB_D run in order of their names.
# POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE: the superuser's password, wanted at the first start. PGDATABASE: the
# database (app), fixed by the first start.
set -euo pipefail

case "${1:-}" in -*) set -- postgres "$@" ;; esac
[ "${1:-}" = postgres ] || exec "$@"

control() {
  pg_ctl --pgdata="$PGDATA" --silent --wait "$@" >/dev/null
}

# Made under another name: a start that is killed leaves nothing that looks like a cluster.
first_start() {
  local new=$PGDATA.new password=${POSTGRES_PASSWORD:-}
  if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
    password=$(<"$POSTGRES_PASSWORD_FILE")
  fi
  if [ -z "$password" ]; then
    echo "set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE: the superuser's password" >&2
    exit 1
  fi
  rm -rf "$new"
  initdb --pgdata="$new" --username="$PGUSER" --encoding=UTF8 --locale=C.UTF-8 --data-checksums \
    --auth-local=peer --auth-host=scram-sha-256 --pwfile=<(printf '%s\n' "$password") >/dev/null
  echo 'host all all all scram-sha-256' >>"$new/pg_hba.conf"
  cat >>"$new/postgresql.conf" <<CONF
listen_addresses = '*'
unix_socket_directories = '$PGHOST'
shared_preload_libraries = 'pg_cron'
cron.database_name = '$PGDATABASE'
cron.use_background_workers = on
max_worker_processes = 16
timezone = 'UTC'
log_timezone = 'UTC'
CONF
  touch "$new/lf-sql.new" # until all that belongs to the first start is done
  mv "$new" "$PGDATA"
}

# As the official image has it; a file that fails ends the start, and the next one runs them all again.
initialize() {
  local file
  for file in "${INITDB_D:-/docker-entrypoint-initdb.d}"/*; do
    case "$file" in
    *.sql) psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --single-transaction --file="$file" ;;
    *.sql.gz) gunzip --stdout "$file" | psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --single-transaction ;;
    *.sh) bash "$file" ;;
    *) continue ;;
    esac
    echo "ran ${file##*/}"
  done
}

# The first process of a container ignores what it does not ask for: without these a stop would end in a kill.
trap 'exit 130' INT
trap 'exit 143' TERM

[ -s "$PGDATA/PG_VERSION" ] || first_start
is_new=$PGDATA/lf-sql.new

# No client reaches the server until lf-sql is in place.
trap 'control --mode=fast stop 2>/dev/null || true' EXIT
control --log="$PGDATA/start.log" --options="-c listen_addresses=''" start || { cat "$PGDATA/start.log" >&2; exit 1; }
if ! psql --no-psqlrc --quiet --command='' 2>/dev/null; then
  createdb "$PGDATABASE"
fi
lf-sql install &
wait $!
if [ -e "$is_new" ]; then
  initialize
  rm "$is_new"
fi
control --mode=fast stop

exec "$@"
