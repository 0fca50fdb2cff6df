//! The findings as they are read: by a person, or by a program.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::finding::{Finding, Part, Weight};
use crate::screen::{self, Screen};

/// The widest a line is made where it is read later.
const WIDEST: usize = 110;

/// Where what follows a weight begins.
const INDENT: usize = 11;

/// The findings for a person.
pub(super) fn text(findings: &[Finding], screen: Screen) -> String {
    let mut out = String::new();
    for part in Part::ALL {
        let of_part: Vec<&Finding> = findings.iter().filter(|finding| finding.part == part).collect();
        if of_part.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{}", part.as_str());
        for finding in of_part {
            tell(&mut out, finding, screen);
        }
    }
    let problems = findings
        .iter()
        .filter(|finding| finding.weight == Weight::Problem)
        .count();
    let _ = match problems {
        0 => writeln!(out, "\nNo problems."),
        1 => writeln!(out, "\n1 problem."),
        more => writeln!(out, "\n{more} problems."),
    };
    out
}

fn tell(out: &mut String, finding: &Finding, screen: Screen) {
    let room = screen.width.unwrap_or(WIDEST).clamp(INDENT + 20, WIDEST) - INDENT;
    let what = screen::line(&format!("{}: {}", finding.place, finding.what));
    let mut lines = screen::wrap(&what, room);
    if let Some(todo) = &finding.todo {
        lines.extend(screen::wrap(&screen::line(&format!("do: {todo}")), room));
    }
    let mut mark = finding.weight.as_str();
    for line in lines {
        let _ = writeln!(out, "  {mark:<8} {line}");
        mark = "";
    }
}

/// The findings for a program.
pub(super) fn json(findings: &[Finding]) -> Value {
    let clean = findings.iter().all(|finding| finding.weight != Weight::Problem);
    json!({ "clean": clean, "findings": findings.iter().map(Finding::json).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_where_and_what_to_do_are_told_without_anything_a_terminal_obeys() {
        let findings = [
            Part::Clock.good("clock", "clock", "2026-11-30 13:00:00Z"),
            Part::Hosts.problem(
                "command_not_found",
                "~/x.json: a\u{1b}[2J",
                "npx is not in PATH",
                "install it ".repeat(12).trim(),
            ),
            Part::Hosts
                .note("not_wrapped", "~/x.json: b", "would be wrapped")
                .todo("candor import --host cursor"),
        ];
        let on = |width| text(&findings, Screen { width, colour: false });
        insta::assert_snapshot!("report", format!("{}---\n{}", on(None), on(Some(60))));
        let whole = json(&findings);
        assert_eq!(whole["clean"], false);
        assert_eq!(whole["findings"][1]["code"], "command_not_found");
        assert_eq!(json(&findings[..1])["clean"], true);
        assert!(
            text(
                &findings[..1],
                Screen {
                    width: None,
                    colour: false
                }
            )
            .ends_with("No problems.\n")
        );
    }
}
