//! Every case known from the field is in docs/field-cases.md, with a test that is there or what it waits for.

use std::collections::BTreeSet;

use super::workspace::{root, text};

/// The cases, by family. Their numbers have gaps.
const CASES: &[(&str, &[u8])] = &[
    ("F1", &[1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20]),
    ("F2", &[1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19]),
    ("F3", &[1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16]),
    (
        "F4",
        &[
            1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29,
        ],
    ),
    ("F5", &[1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17]),
    ("F6", &[2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]),
    ("F7", &[1, 2, 4, 5, 7, 8, 10, 11, 13]),
    ("F8", &[13, 15]),
    ("F9", &[1, 2, 4, 5, 7, 8]),
];

/// The pieces of Candor that a case may wait for.
const PIECES: [&str; 5] = [
    "the HTTP faces",
    "read-back and recovery",
    "the checker",
    "the drill",
    "the console",
];

/// One row of the page.
struct Row<'a> {
    id: &'a str,
    rule: &'a str,
    tests: Vec<&'a str>,
    waits: &'a str,
}

/// The rows that begin with a case's id.
fn rows(page: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| F")) {
        let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
        let (id, rule) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let tests = cells.next().unwrap_or_default();
        rows.push(Row {
            id,
            rule,
            tests: tests.split('`').skip(1).step_by(2).collect(),
            waits: cells.next().unwrap_or_default(),
        });
    }
    rows
}

/// Does this source have a test of this name: a function of its own, or one that a macro makes of a list?
fn has_test(source: &str, name: &str) -> bool {
    let own = source.contains(&format!("fn {name}("));
    let made = source
        .split("\nrows_of!(")
        .nth(1)
        .and_then(|rest| rest.split(");").next())
        .is_some_and(|list| list.split(',').any(|item| item.trim() == name));
    own || made
}

/// What is wrong with a row.
fn wrong(row: &Row<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let waits = PIECES.iter().any(|piece| {
        row.waits
            .strip_prefix(piece)
            .is_some_and(|rest| rest.starts_with(": "))
    });
    if row.rule.is_empty() {
        faults.push("no rule".to_owned());
    }
    if row.waits != "–" && !waits {
        faults.push(format!(
            "it waits for no piece of Candor with a reason: {}",
            row.waits
        ));
    }
    if row.tests.is_empty() && !waits {
        faults.push("neither a test nor a piece that it waits for".to_owned());
    }
    for test in &row.tests {
        let Some((file, name)) = test.split_once("::") else {
            faults.push(format!("{test} is not a file and a name"));
            continue;
        };
        let path = format!("crates/{file}");
        if !root().join(&path).is_file() {
            faults.push(format!("there is no file {path}"));
        } else if !has_test(&text(&path), name) {
            faults.push(format!("{path} has no test {name}"));
        }
    }
    faults
}

#[test]
fn every_case_has_a_test_that_is_there_or_a_piece_it_waits_for() {
    let page = text("docs/field-cases.md");
    let faults: Vec<String> = rows(&page)
        .iter()
        .flat_map(|row| wrong(row).into_iter().map(|fault| format!("{}: {fault}", row.id)))
        .collect();
    assert!(faults.is_empty(), "docs/field-cases.md:\n{}", faults.join("\n"));
}

#[test]
fn every_case_is_there_once_and_no_other() {
    let page = text("docs/field-cases.md");
    let found: Vec<String> = rows(&page).iter().map(|row| row.id.to_owned()).collect();
    let expected: BTreeSet<String> = CASES
        .iter()
        .flat_map(|(family, numbers)| numbers.iter().map(move |number| format!("{family}-{number:02}")))
        .collect();
    let once: BTreeSet<String> = found.iter().cloned().collect();
    assert_eq!(once, expected);
    assert_eq!(found.len(), once.len(), "a case stands there twice");
}

#[test]
fn a_row_that_promises_too_much_is_seen() {
    let own = "candor-house/tests/it/cases.rs";
    for (cells, faults) in [
        (
            format!("a rule | `{own}::a_row_that_promises_too_much_is_seen` | –"),
            0,
        ),
        ("a rule | `candor-cli/tests/it/rows.rs::rooms` | –".to_owned(), 0),
        ("a rule | – | the checker: it is written there".to_owned(), 0),
        ("a rule | – | –".to_owned(), 1),
        ("a rule | – | the checker".to_owned(), 2),
        ("a rule | – | better days: soon".to_owned(), 2),
        (format!("a rule | `{own}::a_row_that_promises` | –"), 1),
        (
            "a rule | `candor-cli/tests/it/rows.rs::cellars` | –".to_owned(),
            1,
        ),
        ("a rule | `candor-house/nowhere.rs::a` | –".to_owned(), 1),
        ("a rule | `a_test` | –".to_owned(), 1),
    ] {
        let line = format!("| F1-01 | {cells} |");
        let found: Vec<String> = rows(&line).iter().flat_map(wrong).collect();
        assert_eq!(found.len(), faults, "{line}: {found:?}");
    }
}
