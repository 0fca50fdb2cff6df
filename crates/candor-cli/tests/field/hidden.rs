//! Hidden failures, measured: the failing calls of each subject, bare and through Candor with its contract packs, and the
//! calls that must stay as they are. Writes `docs/hidden-failures.md`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::{
    answer,
    harness::{
        frame,
        scene::{Scene, Way},
    },
    isolation,
    play::{self, opening},
    subject::{self, Call, Subject},
};

/// What became of the calls of one subject.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Counts {
    failing: usize,
    /// Failures that the server itself flags, or tells as an error.
    flagged: usize,
    /// Failures that are told as such through Candor.
    told: usize,
    /// Failures of which Candor looked again, and the state is the one that was asked for.
    as_asked: usize,
    /// Failures that still look like a success.
    hidden: usize,
    /// Calls that work, and answers that only look like failures.
    fair: usize,
    /// Those of them that Candor flags.
    alarms: usize,
    /// Those of them whose bytes are the server's, but for what Candor adds to `_meta`.
    untouched: usize,
}

/// Plays one subject both ways, counts, and holds the counts against the page.
pub(crate) fn hold(name: &str) {
    let Some(subject) = Subject::installed(name) else {
        return;
    };
    let bare = played(&subject, Way::Bare);
    let through = played(&subject, Way::Through);
    let mut counts = Counts::default();
    for (name, call) in calls(&subject) {
        let (bare, through) = (&bare.answers[&name], &through.answers[&name]);
        if name.starts_with("failure") || name.starts_with("unchecked") {
            counts.failing += 1;
            counts.flagged += usize::from(is_flagged(bare));
            let found = verdict(through);
            if is_flagged(through) {
                counts.told += 1;
            } else if found["evidence"] == json!("read_back") {
                counts.as_asked += 1;
            } else {
                counts.hidden += 1;
                eprintln!("{}: hidden: {} {}", subject.name, call.tool, call.arguments);
            }
        } else {
            assert!(!is_flagged(bare), "{}, {name}: {bare}", subject.name);
            counts.fair += 1;
            counts.alarms += usize::from(is_flagged(through));
            counts.untouched += usize::from(is_untouched(&subject, &name, call, bare, through));
        }
    }
    page::hold(&subject, &counts);
}

/// The calls that reach it, and more that work.
fn calls(subject: &Subject) -> impl Iterator<Item = (String, &Call)> {
    let more = subject.works.iter().enumerate();
    subject
        .calls()
        .chain(more.map(|(at, call)| (format!("works {at}"), call)))
}

fn is_flagged(answer: &str) -> bool {
    let value = frame::value(answer);
    value.get("error").is_some() || value["result"]["isError"] == json!(true)
}

fn verdict(answer: &str) -> Value {
    frame::value(answer)["result"]["_meta"]["candor/verdict"].take()
}

/// The same answer as without Candor, but for Candor's own members of `_meta`.
fn is_untouched(subject: &Subject, name: &str, call: &Call, bare: &str, through: &str) -> bool {
    if is_flagged(through) {
        return false;
    }
    answer::same(subject, name, call.same, bare, through);
    true
}

struct Played {
    answers: BTreeMap<String, String>,
}

/// Makes the calls one after the other, in their order.
fn played(subject: &Subject, way: Way) -> Played {
    subject.lay();
    let scene = Scene::with_server(&subject.command()).option("--packs");
    let opening = opening(Era::Legacy);
    let mut host = scene.start(way);
    opening.open(&mut host);
    play::pages(&opening, &mut host);
    let answers = calls(subject)
        .map(|(name, call)| {
            let answer = host.ask(&opening.call(&format!("\"{name}\""), &call.tool, &call.arguments));
            (name, answer)
        })
        .collect();
    host.kill();
    isolation::end_all(&subject.folder());
    Played { answers }
}

/// `docs/hidden-failures.md`: a run holds its counts against it; with `UPDATE=1` in the environment it writes them.
mod page {
    use super::*;

    const HEAD: &str = "\
# Hidden failures

Calls that fail at real MCP servers, made bare and then through `candor --packs --`, without a network; and calls that work, or
whose answers only look like failures. A test plays `subjects/subjects.toml` and holds what it counts against this page:
`scripts/subjects.sh` installs the servers, `cargo test -p candor-cli --test field hidden` plays them, and `UPDATE=1` before
that writes this page anew.

| server | calls that fail | bare: flagged | bare: hidden | with packs: told | with packs: looked at | with packs: hidden | good and fair answers | false alarms | untouched |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

    const LEGEND: &str = "
What the columns say:

- **bare**: `flagged` is a result with `isError`, or a JSON-RPC error; `hidden` is neither, whatever the text says.
- **told**: through Candor the answer is flagged and says what is known, or the call was refused before it was sent.
- **looked at**: the server did nothing and said that it did, and Candor looked: what was asked for is so. An entity that was
  never there is not there after its deletion either. The verdict says `completed` on the evidence `read_back`, and means the
  state, not a change.
- **hidden**: through Candor it still looks like a success. The verdict is `reported`, never `completed`.
- **good and fair answers**: calls that work, and answers that only look like failures (a linter's finding, a file with the word
  error in it, an empty search). **false alarms** are those that Candor flags; **untouched** are those whose answer is the bare
  one but for Candor's members of `_meta`.
";

    /// Rows are replaced one at a time: tests run beside each other.
    static FILE: Mutex<()> = Mutex::new(());

    pub(super) fn hold(subject: &Subject, counts: &Counts) {
        let _alone = FILE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows = parse(&read());
        if updating() {
            rows.insert(subject.name.clone(), counts.clone());
            std::fs::write(path(), render(&rows)).unwrap();
            return;
        }
        assert_eq!(
            rows.get(&subject.name),
            Some(counts),
            "docs/hidden-failures.md says other of {} than was counted now (UPDATE=1 writes it)",
            subject.name
        );
    }

    pub(super) fn updating() -> bool {
        std::env::var_os("UPDATE").is_some_and(|value| value == "1")
    }

    fn path() -> PathBuf {
        PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/hidden-failures.md"
        ))
    }

    pub(super) fn read() -> String {
        std::fs::read_to_string(path()).unwrap_or_default()
    }

    fn line(name: &str, counts: &Counts) -> String {
        let Counts {
            failing,
            flagged,
            told,
            as_asked,
            hidden,
            fair,
            alarms,
            untouched,
        } = *counts;
        let bare_hidden = failing - flagged;
        format!(
            "| {name} | {failing} | {flagged} | {bare_hidden} | {told} | {as_asked} | {hidden} | {fair} | {alarms} | {untouched} |\n"
        )
    }

    /// The counts of a page, by server.
    pub(super) fn parse(text: &str) -> BTreeMap<String, Counts> {
        let row = |line: &str| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let numbers: Vec<usize> = cells
                .get(1..)?
                .iter()
                .filter_map(|cell| cell.parse().ok())
                .collect();
            let [
                failing,
                flagged,
                _,
                told,
                as_asked,
                hidden,
                fair,
                alarms,
                untouched,
            ] = numbers[..]
            else {
                return None;
            };
            let counts = Counts {
                failing,
                flagged,
                told,
                as_asked,
                hidden,
                fair,
                alarms,
                untouched,
            };
            Some((cells[0].to_owned(), counts))
        };
        text.lines()
            .filter_map(row)
            .filter(|(name, _)| name != "**all**")
            .collect()
    }

    pub(super) fn render(rows: &BTreeMap<String, Counts>) -> String {
        let mut text = HEAD.to_owned();
        let mut all = Counts::default();
        for name in subject::names() {
            let Some(counts) = rows.get(&name) else { continue };
            text.push_str(&line(&name, counts));
            all = Counts {
                failing: all.failing + counts.failing,
                flagged: all.flagged + counts.flagged,
                told: all.told + counts.told,
                as_asked: all.as_asked + counts.as_asked,
                hidden: all.hidden + counts.hidden,
                fair: all.fair + counts.fair,
                alarms: all.alarms + counts.alarms,
                untouched: all.untouched + counts.untouched,
            };
        }
        text + &line("**all**", &all) + LEGEND
    }
}

#[test]
fn the_page_has_each_subject_no_hidden_failure_and_no_false_alarm() {
    if page::updating() {
        return;
    }
    let rows = page::parse(&page::read());
    for name in subject::names() {
        let counts = rows.get(&name);
        let counts = counts.unwrap_or_else(|| panic!("no row for {name} (UPDATE=1 writes it)"));
        assert_eq!(counts.hidden, 0, "{name}");
        assert_eq!(counts.alarms, 0, "{name}");
        assert_eq!(counts.untouched, counts.fair, "{name}");
    }
    assert_eq!(
        page::read(),
        page::render(&rows),
        "docs/hidden-failures.md is not as the test writes it"
    );
}
