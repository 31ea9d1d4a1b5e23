#!/usr/bin/env bash
# npm into the folder given, from the package.json given; no lock file, versions are exact there. Quiet unless it fails.
set -euo pipefail
folder=$1
command -v npm >/dev/null || { echo "npm is missing: install Node.js 18 or newer" >&2; exit 1; }
mkdir -p "$folder"
cp "$2" "$folder/package.json"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
npm install --prefix "$folder" --no-package-lock --no-audit --no-fund --ignore-scripts >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
