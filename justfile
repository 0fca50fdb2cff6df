# The commands of this repository. Each only calls what can be run without just, too.

# Every check and every test.
test:
    scripts/test.sh

# Every check and test that needs no server from a package registry.
quick:
    scripts/test.sh --quick

# Formatting and lints only.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Writes the formatting.
fmt:
    cargo fmt --all

# The tests of the house and of the documents only.
house:
    cargo test --locked --package candor-house

# Builds Candor and plays the demo.
demo:
    cargo run --locked --package candor-cli -- demo

# Licences, advisories, sources and doubles of the dependencies (needs cargo-deny).
deny:
    cargo deny check

# Measures what Candor costs on this machine, and writes it down.
bench:
    cargo build --locked --release --package candor-cli --package candor-bench
    target/release/candor-bench --write docs/benchmarks

# Fuzzes one target for as long as it is let (needs nightly Rust and cargo-fuzz). Starts from the committed corpus.
fuzz TARGET *FLAGS:
    cp Cargo.lock fuzz/Cargo.lock
    mkdir -p fuzz/corpus/{{TARGET}}
    cargo +nightly fuzz run --sanitizer none {{TARGET}} fuzz/corpus/{{TARGET}} crates/candor-fuzz/corpus/{{TARGET}} -- -max_len=8192 -timeout=10 {{FLAGS}}
