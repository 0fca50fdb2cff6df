#!/usr/bin/env bash
# Runs every check and every test of Candor. This is the second command of the README, and all that CI runs.
#   scripts/test.sh           everything
#   scripts/test.sh --quick   without the real servers, clients and the conformance suite: their tests say that they skip
set -euo pipefail
cd "$(dirname "$0")/.."

quick=no
for argument in "$@"; do
  case "$argument" in
    --quick) quick=yes ;;
    *) printf 'scripts/test.sh: unknown argument %s; the only one is --quick\n' "$argument" >&2; exit 2 ;;
  esac
done

say() { printf '%s\n' "$@" >&2; }

# Runs one step, and says what it is and how long it took.
step() {
  local began=$SECONDS
  say "" "== $*"
  "$@"
  say "== took $((SECONDS - began)) s"
}

if ! command -v cargo >/dev/null 2>&1; then
  say "scripts/test.sh: no cargo on the path. Install a Rust toolchain (the version is in Cargo.toml, rust-version)."
  exit 2
fi
for part in fmt clippy; do
  if ! cargo "$part" --version >/dev/null 2>&1; then
    say "scripts/test.sh: this toolchain has no cargo $part. With rustup: rustup component add rustfmt clippy"
    exit 2
  fi
done

# The cheap ones first: whoever waits for the tests should not hear about formatting at the end.
step cargo fmt --all --check
# Crates of all platforms: tests ask cargo about them, and should not need a network for that.
step cargo fetch --locked
step cargo clippy --workspace --all-targets --locked -- -D warnings
step env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
# Where there is no system, the core must compile all the same. No code is generated: that would take twice as long and
# find nothing more.
if [ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ]; then
  step cargo check --package candor-core --target wasm32-unknown-unknown --locked
else
  say "" "== skipped: candor-core for wasm32-unknown-unknown; with rustup: rustup target add wasm32-unknown-unknown"
fi
if [ "$quick" = no ]; then step scripts/subjects.sh; step scripts/clients.sh; step scripts/conformance.sh; fi
step cargo test --workspace --locked --no-fail-fast
