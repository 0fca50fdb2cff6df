#!/usr/bin/env bash
# Installs the official clients that tests drive through Candor (clients/), at the versions of their lockfiles: the TypeScript SDK's
# into clients/typescript/node_modules, the Python SDK's two lines into clients/python/.venv-1 and .venv-2.
# Does nothing where what is installed already matches the lockfiles. The Rust SDK's client comes with cargo.
set -euo pipefail
cd "$(dirname "$0")/../clients"

say() { printf '%s\n' "$*" >&2; }

for command in node npm python3; do
  if ! command -v "$command" >/dev/null 2>&1; then
    say "scripts/clients.sh: '$command' is missing. scripts/subjects.sh installs it where it can; run that first."
    exit 2
  fi
done

# Runs an installer only where the stamp in the folder it fills differs from the files it installs from.
unless_stamped() { # folder, installer, lockfile...
  local folder=$1 installer=$2
  shift 2
  local wanted
  wanted=$(cat -- "$@" | git hash-object --stdin)
  if [ "$(cat "$folder/.stamp" 2>/dev/null || true)" = "$wanted" ]; then return; fi
  say "installing clients/$folder"
  rm -rf "$folder"
  "$installer" "$folder" "$@"
  printf '%s\n' "$wanted" >"$folder/.stamp"
}

install_typescript() {
  npm ci --prefix typescript --ignore-scripts --no-audit --no-fund --loglevel=error >&2
}

install_python() { # folder, requirements
  python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$2" >&2
  "$1/bin/pip" check >&2
}

unless_stamped typescript/node_modules install_typescript typescript/package.json typescript/package-lock.json
unless_stamped python/.venv-1 install_python python/requirements-1.txt
unless_stamped python/.venv-2 install_python python/requirements-2.txt
