//! `docs/field-report.md`: what was found with each subject. A run holds its findings against it; with `UPDATE=1` in the
//! environment it writes them.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use crate::subject;

/// What was found with one subject, cell by cell. Nothing in it may differ from run to run.
pub(crate) struct Row {
    /// The subject.
    pub(crate) name: String,
    /// Its package and version.
    pub(crate) package: String,
    /// Its SDK or language.
    pub(crate) made_with: String,
    /// Its tools as listed.
    pub(crate) list: String,
    /// A call that works.
    pub(crate) good: String,
    /// Bad arguments.
    pub(crate) bad: String,
    /// Failures, bare and through Candor.
    pub(crate) failures: String,
    /// False alarms raised.
    pub(crate) honest: String,
    /// What it makes of `server/discover`.
    pub(crate) discover: String,
    /// How it ends.
    pub(crate) exit: String,
}

const HEAD: &str = "\
# Field report

Real MCP servers from the package registries, each played bare and then through `candor --`, without a network. A test
plays `subjects/subjects.toml` and holds what it finds against `decisions.toml`, against the bare run and against this page:
`scripts/subjects.sh` installs the servers, `cargo test -p candor-cli --test field` plays them, and `UPDATE=1` before that
writes this page anew.

| server | `tools/list` | good call | bad arguments: what Candor answered | failures: as the server tells them → as Candor judges them | false alarms | `server/discover` first | exit code |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

const LEGEND: &str = "
What the columns say, and what the test holds in each:

- **`tools/list`**: all pages, byte by byte as the server wrote them in this run, and as it wrote them bare. So are its other
  lists and its answer to an unknown method, and no line that is no message reaches the host.
- **good call**: the answer is what the server wrote in this run, but for Candor's members of `_meta`. `same bytes`: it is the
  bare one too. `same shape`: the server tells times, or shuffles, so of the bare run only members and types are compared.
  `–`: every tool of this server needs the network. Arguments that
  Candor mends without loss (text for a number or a list) are held here too: the server gets them mended, the answer is that
  to the mended call, and `_meta` says so.
- **bad arguments**: the record of the server's stdin shows that it never saw the call. Field, expected and received are in
  the first text block and in the verdict.
- **failures**: before the arrow, how the server tells them: `flagged` (`isError`), `error` (JSON-RPC, with its code), `hidden`
  (neither flag nor error, whatever the text says). After it, what Candor makes of it without a contract: outcome and evidence
  where the server's bytes stay, else the words that Candor's block opens with. A hidden failure is `reported`, never
  `completed`: prose decides nothing, and a contract is needed to know more. Each call is in the ledger with that outcome.
- **false alarms**: answers that only look like failures (a linter's finding, a file with the word error in it, an empty
  search), and how many of them Candor flagged.
- **`server/discover` first**: what the server makes of it as the first message, in a process of its own. Candor passes it on
  when a host asks, and never asks by itself: for some servers it is the end.
- **exit code**: of `candor --` after its stdin ended, which is the server's. No process of the server is left then.
";

/// Rows are replaced one at a time: tests run beside each other.
static FILE: Mutex<()> = Mutex::new(());

/// Holds a row against the report, or writes it there.
pub(crate) fn hold(row: &Row) {
    let _alone = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows = parse(&read());
    if updating() {
        rows.insert(row.name.clone(), line(row));
        std::fs::write(path(), render(&rows)).unwrap();
        return;
    }
    assert_eq!(
        rows.get(&row.name).map(String::as_str),
        Some(line(row).as_str()),
        "docs/field-report.md says other of {} than was found now (UPDATE=1 writes it)",
        row.name
    );
}

fn updating() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/field-report.md"))
}

fn read() -> String {
    std::fs::read_to_string(path()).unwrap_or_default()
}

fn line(row: &Row) -> String {
    let name = format!("**{}**: {} ({})", row.name, row.package, row.made_with);
    let cells = [
        &name,
        &row.list,
        &row.good,
        &row.bad,
        &row.failures,
        &row.honest,
        &row.discover,
        &row.exit,
    ];
    let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |", cells.join(" | "))
}

/// The rows of a report, by the name each begins with.
fn parse(text: &str) -> BTreeMap<String, String> {
    let named = |line: &str| {
        let name = line.strip_prefix("| **")?.split_once("**")?.0;
        Some((name.to_owned(), line.to_owned()))
    };
    text.lines().filter_map(named).collect()
}

fn render(rows: &BTreeMap<String, String>) -> String {
    let mut text = HEAD.to_owned();
    for name in subject::names() {
        if let Some(row) = rows.get(&name) {
            text.push_str(row);
            text.push('\n');
        }
    }
    text + LEGEND
}

#[test]
fn the_report_has_each_subject_and_nothing_else() {
    if updating() {
        return;
    }
    let rows = parse(&read());
    for name in subject::names() {
        assert!(rows.contains_key(&name), "no row for {name} (UPDATE=1 writes it)");
    }
    assert_eq!(
        read(),
        render(&rows),
        "docs/field-report.md is not as the test writes it"
    );
}
