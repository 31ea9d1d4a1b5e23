#!/usr/bin/env bash
# What only the system can give, where we are root on Debian or Ubuntu; elsewhere nothing happens, and what is then
# missing says so itself. Arguments: python (venv), server (PostgreSQL, pg_cron), test (pgTAP, plpgsql_check, pgbouncer, Chromium,
# Node.js), monitoring (Prometheus and promtool).
set -euo pipefail

[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
export DEBIAN_FRONTEND=noninteractive

want=()
have() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
need() { for p in "$@"; do have "$p" || want+=("$p"); done; }

# The version that the distribution has (or the newest that is installed already).
major() {
  local m
  m=$(find /usr/lib/postgresql -maxdepth 1 -name '[0-9]*' -printf '%f\n' 2>/dev/null | sort -n | tail -n 1)
  if [ -z "$m" ]; then
    m=$(apt-cache depends postgresql 2>/dev/null | sed -nE 's/.*Depends: postgresql-([0-9]+)$/\1/p' | head -n 1)
  fi
  echo "${m:-15}"
}

refreshed=
refresh() {
  [ -n "$refreshed" ] || apt-get update -qq >/dev/null 2>&1 || true
  refreshed=1
}

for group in "$@"; do
  case $group in
  python)
    python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv
    ;;
  server)
    ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || refresh
    m=$(major)
    # Without this file the package would make and start a cluster of its own.
    if ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then
      mkdir -p /etc/postgresql-common
      [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
    fi
    need "postgresql-$m" "postgresql-$m-cron" util-linux
    ;;
  test)
    m=$(major)
    need "postgresql-$m-pgtap" "postgresql-$m-plpgsql-check" libtap-parser-sourcehandler-pgtap-perl pgbouncer faketime
    command -v chromium chromium-browser google-chrome >/dev/null || need chromium
    command -v npm >/dev/null || need nodejs npm
    ;;
  monitoring)
    command -v promtool >/dev/null || need prometheus
    ;;
  esac
done

[ ${#want[@]} -eq 0 ] && exit 0
refresh
echo "apt-get install ${want[*]}" >&2
apt-get install -y -qq --no-install-recommends "${want[@]}" >/dev/null 2>&1 ||
  for p in "${want[@]}"; do
    apt-get install -y -qq --no-install-recommends "$p" >/dev/null 2>&1 || echo "  not to be had: $p" >&2
  done
