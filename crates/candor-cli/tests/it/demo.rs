//! `candor demo`: what it prints is what was received, and what it claims is no more than what is true. The truth files
//! are the fixtures' own; the demo never reads them.

mod checks;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use candor_fixtures::Truth;
use serde_json::Value;

use self::checks::{bare, overclaim, says_done, shown};
use crate::harness::{frame, scene::candor};

/// The scenes in order: server, and what the ledger must say with and without the demo's contract.
const SCENES: [(&str, Verdict, Verdict); 7] = [
    ("rooms", ["rejected", "not_applied", "declared"], REPORTED),
    ("flights", REFUSED, REPORTED),
    ("flights", REFUSED, REFUSED),
    ("reports", ["accepted", "unknown", "declared"], REPORTED),
    ("tickets", LOST, LOST),
    ("notes", REPORTED, REPORTED),
    ("payments", LOST, LOST),
];

/// Outcome, effect, evidence.
type Verdict = [&'static str; 3];
const REPORTED: Verdict = ["reported", "unknown", "asserted"];
const REFUSED: Verdict = ["rejected", "not_applied", "not_sent"];
const LOST: Verdict = ["unknown", "unknown", "none"];

/// How long all of it may take: the promise of the page.
const PROMISE: Duration = Duration::from_secs(60);

/// One run of the demo, with its files.
struct Run {
    folder: tempfile::TempDir,
    page: String,
    took: Duration,
}

fn demo(options: &[&str], columns: &str) -> Command {
    let mut command = Command::new(candor());
    command.arg("demo").args(options).env("COLUMNS", columns);
    command
}

fn text(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).unwrap()
}

fn errors(output: &Output) -> String {
    text(&output.stderr)
}

impl Run {
    /// A run that keeps its files and must end well.
    fn kept(options: &[&str], columns: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let output = demo(options, columns)
            .arg("--keep")
            .arg(folder.path())
            .output()
            .unwrap();
        let took = start.elapsed();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}\n{}",
            text(&output.stdout),
            errors(&output)
        );
        assert_eq!(errors(&output), "", "a good demo has nothing to say on stderr");
        Self {
            folder,
            page: text(&output.stdout),
            took,
        }
    }

    fn path(&self, part: &str, server: &str) -> PathBuf {
        self.folder.path().join(part).join(format!("{server}.jsonl"))
    }

    /// The answers received to the calls of a server, oldest first. Every conversation has one call.
    fn answers(&self, side: &str, server: &str) -> Vec<Option<String>> {
        let mut answers = Vec::new();
        for line in std::fs::read_to_string(self.path(side, server)).unwrap().lines() {
            match frame::id(line) {
                Some("1") => answers.push(None),
                Some("3") => *answers.last_mut().unwrap() = Some(line.to_owned()),
                _ => {}
            }
        }
        answers
    }

    /// What `candor calls --json` says, oldest first.
    fn calls(&self) -> Vec<Value> {
        let ledger = self.folder.path().join("ledger.sqlite");
        let output = Command::new(candor())
            .args(["calls", "--json", "--ledger"])
            .arg(ledger)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        let mut calls: Vec<Value> = text(&output.stdout).lines().map(frame::value).collect();
        calls.sort_by_key(|call| call["operationId"].as_str().unwrap().to_owned());
        calls
    }

    /// Each recorded call, and whether it was really done.
    fn held_against_truth(&self) -> Vec<(Value, bool)> {
        let mut truths = BTreeMap::new();
        let mut held = Vec::new();
        for call in self.calls() {
            let server = call["server"].as_str().unwrap().to_owned();
            let file = self.path("truth/through", &server);
            let truths = truths
                .entry(server)
                .or_insert_with(|| Truth::read(&file).unwrap().into_iter());
            // What was not sent has no truth of its own: nothing was done.
            let sent = call["protocol"] != "not_sent";
            let done = sent
                && truths
                    .next()
                    .expect("the server got the call and wrote its truth")
                    .done;
            held.push((call, done));
        }
        let left: Vec<_> = truths.into_values().flatten().collect();
        assert!(left.is_empty(), "done behind the ledger's back: {left:?}");
        held
    }

    /// The scenes as printed: the text under each heading.
    fn scenes(&self) -> Vec<&str> {
        let sections = self.page.split("── ").skip(1);
        sections
            .filter(|section| section.starts_with(|first: char| first.is_ascii_digit()))
            .collect()
    }
}

/// The printed lines of one side, where the sides stand one under the other.
fn side<'a>(scene: &'a str, title: &str) -> Vec<&'a str> {
    let from = scene
        .lines()
        .skip_while(|line| !line.starts_with(&format!("  {title}")))
        .skip(1);
    from.map_while(|line| line.strip_prefix("  │ ").or_else(|| line.strip_prefix("  │")))
        .collect()
}

#[test]
fn the_whole_demo_shows_what_came_and_claims_no_more_than_is_true() {
    let run = Run::kept(&[], "80");
    assert!(run.took < PROMISE, "took {:?}", run.took);
    let held = run.held_against_truth();
    let scenes = run.scenes();
    assert_eq!(
        (held.len(), scenes.len()),
        (SCENES.len(), SCENES.len()),
        "{}",
        run.page
    );
    let mut played: BTreeMap<&str, usize> = BTreeMap::new();
    for (((call, done), scene), (server, expected, _)) in held.iter().zip(scenes).zip(SCENES) {
        assert_eq!(call["server"], server, "{call}");
        assert_eq!(
            [&call["outcome"], &call["effect"], &call["evidence"]],
            expected,
            "{call}"
        );
        assert_eq!(overclaim(call, *done), None);
        let at = played.entry(server).or_default();
        let bytes = |side: &str| run.answers(side, server)[*at].clone();
        let printed = bare(&side(scene, "Bare").concat());
        match bytes("bare") {
            Some(bytes) => assert_eq!(printed, shown(Some(&bytes)), "{scene}"),
            None => assert!(printed.starts_with(&shown(None)), "{scene}"),
        }
        let through = side(scene, "Through Candor");
        let expected = shown(bytes("through").as_deref());
        let printed = bare(&through.concat());
        let programs = printed
            .strip_prefix(&expected)
            .unwrap_or_else(|| panic!("{expected}\nis not in\n{scene}"));
        let part = |name: &str| call[name].as_str().unwrap();
        let effect = if part("evidence") == "asserted" {
            "–"
        } else {
            part("effect")
        };
        let verdict = format!(
            "outcome {}, effect {effect}, evidence {}",
            part("outcome"),
            part("evidence")
        );
        assert!(
            programs.starts_with(&bare(&format!("for programs: {verdict}"))),
            "{scene}"
        );
        if !done {
            assert!(
                !says_done(&through.join(" ")),
                "printed as done, which it is not: {scene}"
            );
        }
        *at += 1;
    }
    let (_, after) = run.page.split_once("── The ledger").unwrap();
    assert!(
        !after.contains("completed"),
        "nothing was known to be completed: {after}"
    );
}

#[test]
fn without_the_contract_the_taken_room_is_reported_and_not_more() {
    let run = Run::kept(
        &[
            "--no-contract",
            "--only",
            "rooms",
            "--only",
            "flights",
            "--only",
            "reports",
        ],
        "80",
    );
    assert!(!run.folder.path().join("demo.toml").exists());
    let held = run.held_against_truth();
    let expected: Vec<_> = SCENES.iter().take(4).collect();
    assert_eq!(held.len(), expected.len());
    for ((call, done), (server, _, expected)) in held.iter().zip(expected) {
        assert_eq!(call["server"], *server, "{call}");
        assert_eq!(
            [&call["outcome"], &call["effect"], &call["evidence"]],
            *expected,
            "{call}"
        );
        assert_eq!(overclaim(call, *done), None);
    }
}

#[test]
fn side_by_side_the_bare_column_is_what_came_too() {
    let run = Run::kept(&["--only", "rooms"], "120");
    let [scene] = run.scenes()[..] else {
        panic!("{}", run.page)
    };
    let rows = scene
        .lines()
        .skip_while(|line| !line.starts_with("  Bare"))
        .skip(1);
    let left: String = rows
        .map_while(|line| line.split_once('│'))
        .map(|(left, _)| left)
        .collect();
    assert_eq!(
        bare(&left),
        shown(run.answers("bare", "rooms")[0].as_deref()),
        "{scene}"
    );
    for line in run
        .page
        .lines()
        .filter(|line| !line.contains(&*run.folder.path().to_string_lossy()))
    {
        assert!(line.chars().count() <= 120, "{line}");
    }
    assert!(!run.page.contains('\x1b'), "colour where there is no terminal");
}

#[test]
fn what_it_says_to_type_next_works() {
    let temporary = tempfile::tempdir().unwrap();
    let output = demo(&["--only", "rooms", "--only", "payments"], "80")
        .env("TMPDIR", temporary.path())
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let page = text(&output.stdout);
    let (_, next) = page.split_once("── What to type next").unwrap();
    let commands: Vec<&str> = next
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| !line.starts_with('"'))
        .collect();
    assert!(commands.len() >= 4, "{next}");
    for command in commands.into_iter().filter(|command| !command.contains(" demo ")) {
        let output = Command::new("/bin/sh").args(["-c", command]).output().unwrap();
        // 1 is what `calls --unsettled` says when it lists any, as it must here.
        let expected = if command.contains("--unsettled") { 1 } else { 0 };
        assert_eq!(
            output.status.code(),
            Some(expected),
            "{command}: {}",
            errors(&output)
        );
        assert!(!output.stdout.is_empty(), "{command}");
    }
    let folder = std::fs::read_dir(temporary.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let pointed_to = name == "demo.toml" || name.starts_with("ledger.sqlite");
        assert!(pointed_to, "only what the page points to stays, and {name} did");
    }
}

#[test]
fn bad_usage_is_2_and_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine"), "x").unwrap();
    let in_use = demo(&[], "80").arg("--keep").arg(folder.path()).output().unwrap();
    assert_eq!(in_use.status.code(), Some(2));
    assert!(errors(&in_use).contains("is not empty"), "{}", errors(&in_use));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let unknown = demo(&["--only", "romms"], "80").output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        errors(&unknown).contains("rooms, flights"),
        "{}",
        errors(&unknown)
    );
}

/// A program whose file is gone can't start the demo's servers. The shell opens the file, removes it, and runs what it
/// holds open.
#[test]
#[cfg(target_os = "linux")]
fn a_server_that_can_not_be_started_is_4_and_leaves_nothing() {
    // A second name, not a copy: a file that was just written may still be open for writing in a process that another
    // test is starting, and can't be run then.
    let program = tempfile::tempdir_in(Path::new(&candor()).parent().unwrap()).unwrap();
    let (temporary, name) = (tempfile::tempdir().unwrap(), program.path().join("candor"));
    std::fs::hard_link(candor(), &name).unwrap();
    let script = r#"exec 3<"$0"; rm "$0"; exec /proc/self/fd/3 demo --only rooms"#;
    let output = Command::new("/bin/sh")
        .args(["-c", script])
        .arg(&name)
        .env("TMPDIR", temporary.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    assert!(
        errors(&output).contains("\"rooms\" by itself could not be played"),
        "{}",
        errors(&output)
    );
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}
