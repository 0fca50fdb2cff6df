#!/usr/bin/env bash
# Runs every check and every test of Candor. This is the second command of the README, and all that CI runs.
#   scripts/test.sh           everything
#   scripts/test.sh --quick   without the real servers: their tests say that they skip
set -euo pipefail
cd "$(dirname "$0")/.."

quick=no
for argument in "$@"; do
  case "$argument" in
    --quick) quick=yes ;;
    *) printf 'scripts/test.sh: unknown argument %s; the only one is --quick\n' "$argument" >&2; exit 2 ;;
  esac
done

step() { printf '\n== %s\n' "$*"; "$@"; }

if ! command -v cargo >/dev/null 2>&1; then
  echo "scripts/test.sh: no cargo on the path. Install a Rust toolchain (the version is in Cargo.toml, rust-version)." >&2
  exit 2
fi
if [ "$quick" = no ]; then step scripts/subjects.sh; fi
step cargo fmt --all --check
step cargo clippy --workspace --all-targets --locked -- -D warnings
step env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
step cargo test --workspace --locked
