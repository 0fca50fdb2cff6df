//! The page that says what the suite found: docs/conformance.md.

use std::{fmt::Write as _, path::PathBuf};

use crate::{
    Known,
    suite::{Scenario, Status},
};

const HEAD: &str = "\
# Conformance

The official conformance suite of MCP, played against a server that is written with the library
(`crates/candor/examples/everything`). `scripts/conformance.sh` installs the suite at an exact version,
`cargo test -p candor --test conformance` plays it and holds what it finds against this page, and `UPDATE=1` before that writes
this page anew. What fails or is warned of is listed with its reason below, out of
`crates/candor/tests/conformance/failures.toml`: what is not listed there fails the test, and so does what is listed and passes.
Scenarios of the tasks are run with 2026-07-28 and are never scored; nor is what was added after a release.
";

/// Holds what was found against the page, or writes it there.
pub(crate) fn hold(version: &str, known: &[Known], played: &[(&str, Vec<Scenario>)]) {
    let page = page(version, known, played);
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md"));
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(path, page).unwrap();
        return;
    }
    let held = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        held, page,
        "docs/conformance.md says other than was found now (UPDATE=1 writes it)"
    );
}

fn page(version: &str, known: &[Known], played: &[(&str, Vec<Scenario>)]) -> String {
    let mut page = format!("{HEAD}\nSuite: `@modelcontextprotocol/conformance` {version}.\n");
    page.push_str(
        "\n| requirements | scored: passed | failed | warned | not scored: passed | failed | warned |\n",
    );
    page.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    for (revision, scenarios) in played {
        let total = |scored: bool, status: Status| -> usize {
            let counted = scenarios.iter().filter(|scenario| scenario.scored == scored);
            counted.map(|scenario| scenario.count(status)).sum()
        };
        let ends = [Status::Success, Status::Failure, Status::Warning];
        let counts =
            [true, false].map(|scored| ends.map(|status| total(scored, status).to_string()).join(" | "));
        let _ = writeln!(page, "| {revision} | {} |", counts.join(" | "));
    }
    page.push_str("\n## What does not pass, and why\n\n");
    if known.is_empty() {
        page.push_str("Nothing.\n");
    }
    for Known {
        revision,
        scenario,
        check,
        reason,
    } in known
    {
        let _ = writeln!(page, "- {revision}, `{scenario}`, `{check}`: {}", reason.trim());
    }
    for (revision, scenarios) in played {
        let _ = writeln!(
            page,
            "\n## {revision}\n\n| scenario | scored | passed | failed | warned | skipped |"
        );
        page.push_str("| --- | --- | --- | --- | --- | --- |\n");
        for scenario in scenarios {
            let scored = if scenario.scored { "yes" } else { "no" };
            let ends = [Status::Success, Status::Failure, Status::Warning, Status::Skipped];
            let counts = ends.map(|status| scenario.count(status).to_string()).join(" | ");
            let _ = writeln!(page, "| {} | {scored} | {counts} |", scenario.name);
        }
    }
    page
}
