//! The page that says what the suite found: docs/conformance.md.

use std::{fmt::Write as _, path::PathBuf};

use crate::suite::{Scenario, Status};

const HEAD: &str = "\
# Conformance

The official conformance suite of MCP, played against a server that is written with the library
(`crates/candor/examples/everything`). `scripts/conformance.sh` installs the suite at an exact version,
`cargo test -p candor --test conformance` plays it and holds what it finds against this page, and `UPDATE=1` before that writes
this page anew. What fails has to be listed with its reason in `crates/candor/tests/conformance/failures.toml`.
";

/// Holds what was found against the page, or writes it there.
pub(crate) fn hold(version: &str, played: &[(&str, Vec<Scenario>)]) {
    let page = page(version, played);
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md"));
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(path, page).unwrap();
        return;
    }
    let held = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(held, page, "docs/conformance.md says other than was found now (UPDATE=1 writes it)");
}

fn page(version: &str, played: &[(&str, Vec<Scenario>)]) -> String {
    let mut page = format!("{HEAD}\nSuite: `@modelcontextprotocol/conformance` {version}.\n");
    page.push_str("\n| requirements | scored checks passed | scored checks failed | others passed | others failed |\n");
    page.push_str("| --- | --- | --- | --- | --- |\n");
    for (revision, scenarios) in played {
        let total = |scored: bool, bad: bool| -> usize {
            let counted = scenarios.iter().filter(|scenario| scenario.scored == scored);
            counted
                .map(|scenario| if bad { failed(scenario) } else { scenario.count(Status::Success) })
                .sum()
        };
        let counts = [(true, false), (true, true), (false, false), (false, true)];
        let counts = counts.map(|(scored, bad)| total(scored, bad).to_string());
        let _ = writeln!(page, "| {revision} | {} |", counts.join(" | "));
    }
    for (revision, scenarios) in played {
        let _ = writeln!(page, "\n## {revision}\n\n| scenario | scored | passed | failed | skipped |");
        page.push_str("| --- | --- | --- | --- | --- |\n");
        for scenario in scenarios {
            let scored = if scenario.scored { "yes" } else { "no" };
            let (passed, skipped) = (scenario.count(Status::Success), scenario.count(Status::Skipped));
            let failed = failed(scenario);
            let _ = writeln!(page, "| {} | {scored} | {passed} | {failed} | {skipped} |", scenario.name);
        }
    }
    page
}

fn failed(scenario: &Scenario) -> usize {
    scenario.count(Status::Failure) + scenario.count(Status::Warning)
}
