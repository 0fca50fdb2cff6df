#!/usr/bin/env bash
# Installs the real MCP servers that tests are driven against into .subjects/, from the lockfiles under subjects/.
# Does nothing where what is installed already matches the lockfiles.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }

# Needs one Debian package per missing command; where it can't be installed from here, says what to install.
need_package() { # command, package...
  local command=$1
  shift
  if command -v "$command" >/dev/null 2>&1; then return; fi
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    say "scripts/subjects.sh: '$command' is missing. Install it (on Debian: apt-get install $*) and run this again."
    exit 2
  fi
  say "installing $* for '$command'"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# Runs an installer only where the stamp differs from the files it installs from.
unless_stamped() { # folder, installer, lockfile...
  local folder=$1 installer=$2
  shift 2
  local wanted
  wanted=$(cat -- "$@" | git hash-object --stdin)
  if [ "$(cat "$folder/.stamp" 2>/dev/null || true)" = "$wanted" ]; then return; fi
  say "installing $folder"
  rm -rf "$folder"
  mkdir -p "$folder"
  "$installer" "$folder"
  printf '%s\n' "$wanted" >"$folder/.stamp"
}

# Programs inside npm packages, some of them packed without their x bit.
programs=(
  @leanspec/mcp-linux-x64/leanspec-mcp
  kubernetes-mcp-server-linux-amd64/bin/kubernetes-mcp-server-linux-amd64
  mcp-cron-linux-amd64/bin/mcp-cron
  mcp-time-linux-x64/bin/mcp-time
)

# One folder of npm packages, named as its folder under subjects/. No scripts of theirs run.
install_npm() { # folder
  local source program
  source="subjects/$(basename "$1")"
  cp "$source/package.json" "$source/package-lock.json" "$1"
  npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  for program in "${programs[@]}"; do
    if [ -f "$1/node_modules/$program" ]; then chmod +x "$1/node_modules/$program"; fi
  done
}

# One virtual environment for one generation of the Python SDK, named as its file under subjects/python/.
install_python() { # folder
  python3 -m venv "$1/venv"
  "$1/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
    -r "subjects/python/$(basename "$1").txt" >&2
  "$1/venv/bin/pip" check >&2
}

need_package node nodejs
need_package npm npm
need_package python3 python3 python3-venv
need_package git git
# To bring up the loopback of a namespace without a network, where one may be made. Without it subjects run as they are.
if [ "$(uname)" = Linux ]; then need_package ip iproute2; fi
# Debian ships python3 without the part of venv that makes a pip.
if ! python3 -c 'import ensurepip' 2>/dev/null; then
  [ "$(id -u)" -eq 0 ] || { say "scripts/subjects.sh: python3-venv is missing. Install it and run this again."; exit 2; }
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >&2
fi

for set in npm npm-zod4; do
  unless_stamped ".subjects/$set" install_npm "subjects/$set/package.json" "subjects/$set/package-lock.json"
done
for generation in sdk-2 sdk-1.30 sdk-1.6 sdk-1.2; do
  unless_stamped ".subjects/python/$generation" install_python "subjects/python/$generation.txt"
done
