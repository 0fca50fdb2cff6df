//! Reports of written ledgers: every section in every form, hostile names, long records, and how it ends.

use candor_core::call::settled::{Settled, Settling, Word, amendment};
use candor_core::contract::effect::EffectClass;
use candor_core::contract::mapping::Reading;
use candor_core::judgment::ending::Ending;
use candor_core::judgment::how::How;
use candor_core::names::UnixMillis;
use candor_core::record::bodies::VerdictFacts;
use candor_gateway::recorder::stored;
use candor_ledger::{Entry, Phase};
use clap::Parser;
use serde_json::{Value, json};
use uuid::Uuid;

use super::args::{Format, ReportArgs};
use super::gather::{MOST, gather};
use super::run::{exit, write};
use super::section::Section;
use super::span::Span;
use super::summary::Summary;
use crate::args::{Args, Command};
use crate::exit::Exit;
use crate::screen::{self, Screen};
use crate::written::{BEGIN, Written, id, replied};

/// A moment after everything that is written.
const NOW: i64 = BEGIN + 3 * 3_600_000;
const HOSTILE: &str = "<script>alert(1)</script>|`@all`](javascript:x)\u{1b}[2J\u{202e}\"'";

/// One call of each kind that a report tells apart; the writer still lives, so one of them runs.
fn every_section() -> Written {
    let written = Written::new();
    written.every_kind();
    written.looked_at(9);
    let accepted = written.intent(10, EffectClass::Write, "send_report", 80_000);
    let mut ending = replied(How::Ok, Some(Reading::Accepted));
    if let Ending::Replied(reading) = &mut ending
        && let Some(mapped) = &mut reading.mapped
    {
        mapped.reference = Some(candor_core::contract::mapping::Reference {
            value: "4711".into(),
            noun: Some("job".into()),
            state: None,
        });
    }
    written.ended(&accepted, &ending, 80_010, &VerdictFacts::default());
    for (number, ending, tool) in [
        (11, replied(How::Ok, Some(Reading::Partial)), "delete_files"),
        (12, replied(How::Flagged, None), "book_room"),
        (
            13,
            Ending::Refused {
                code: Some(-32_000),
                message: Some("disk full".into()),
                data: None,
                listed: true,
                changes_nothing: false,
            },
            "book_room",
        ),
        (14, Ending::UnknownTool { nearest: vec![] }, HOSTILE),
    ] {
        let at = 80_000 + i64::try_from(number).unwrap() * 1_000;
        let mut scene = written.intent(number, EffectClass::Write, tool, at);
        scene.attempts = u32::from(tool != HOSTILE);
        written.ended(&scene, &ending, at + 10, &VerdictFacts::default());
    }
    let lost = written.intent(15, EffectClass::Write, "book_room", 96_000);
    written.ended(&lost, &Ending::Timeout, 97_000, &VerdictFacts::default());
    settle(&written, 15);
    written
}

fn settle(written: &Written, number: u128) {
    let call = Settled {
        operation: candor_core::names::OperationId::new(id(number)),
        server: "rooms",
        tool: "book_room",
        intent: b"",
        latest: b"",
    };
    let settling = Settling {
        word: Word::Applied,
        because: "booking 4711 is in the calendar",
        by: "ada",
    };
    written.append(stored(amendment(&call, &settling, UnixMillis(BEGIN + 120_000))));
}

fn read(written: &Written, span: &Span) -> Summary {
    gather(&written.reader(), span, NOW, MOST).unwrap()
}

fn form(written: &Written, format: Format, width: Option<usize>) -> String {
    let mut out = Vec::new();
    let summary = read(written, &Span::default());
    let place = written.place().display().to_string();
    let screen = Screen { width, colour: false };
    write(&mut out, format, &place, &Span::default(), &summary, screen).unwrap();
    let text = written.fixed(&String::from_utf8(out).unwrap());
    text.replace(concat!("candor ", env!("CARGO_PKG_VERSION")), "candor VERSION")
}

#[test]
fn every_call_stands_in_one_section() {
    let summary = read(&every_section(), &Span::default());
    let counts: Vec<(&str, u64)> = Section::ALL
        .iter()
        .map(|section| (section.word(), summary.count(*section)))
        .collect();
    assert_eq!(
        counts,
        [
            ("done", 3),
            ("reported", 1),
            ("partly_done", 1),
            ("not_over", 3),
            ("not_done", 3),
            ("failed_effect_unknown", 2),
            ("unknown", 2),
        ]
    );
    assert_eq!(summary.sections.iter().sum::<u64>(), summary.calls);
    assert_eq!((summary.unsettled, summary.running), (4, 2));
    assert_eq!(summary.evidence["operator"][Section::Done.index()], 1);
    assert_eq!(
        (summary.attempts.sent, summary.attempts.never_sent),
        (12, 1),
        "what still runs is not counted yet"
    );
}

#[test]
fn all_four_forms_tell_the_same() {
    let written = every_section();
    insta::assert_snapshot!("terminal", form(&written, Format::Terminal, None));
    insta::assert_snapshot!("terminal_eighty", form(&written, Format::Terminal, Some(80)));
    insta::assert_snapshot!("markdown", form(&written, Format::Markdown, None));
    insta::assert_snapshot!("json", form(&written, Format::Json, None));
    let page = form(&written, Format::Html, None);
    insta::assert_snapshot!("html", page.replace(include_str!("style.css"), "STYLE"));
    if let Some(place) = std::env::var_os("CANDOR_REPORT_PAGE") {
        std::fs::write(place, page).unwrap();
    }
}

#[test]
fn nothing_foreign_is_obeyed_in_any_form() {
    let written = every_section();
    for width in [None, Some(60), Some(80), Some(200)] {
        let text = form(&written, Format::Terminal, width);
        assert!(
            !text.chars().any(|letter| letter.is_control() && letter != '\n'),
            "{text:?}"
        );
        for line in text.lines().skip(1) {
            let room = width.unwrap_or(1_000);
            let table = !line.contains("  ") || screen::width(line) <= room;
            assert!(table, "{room}: {line}");
        }
    }
    let page = form(&written, Format::Html, None);
    for bad in [
        "<script", "http:", "https:", "src=", "href=", "@import", "onerror", "style=\"",
    ] {
        assert!(!page.contains(bad), "{bad} in the page");
    }
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("default-src 'none'"));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let text = form(&written, Format::Markdown, None);
    assert!(
        !text.contains("<script") && !text.contains("](") && !text.contains('\u{1b}'),
        "{text}"
    );
    for row in text.lines().filter(|line| line.contains("alert")) {
        let columns = row.matches(" | ").count();
        assert!([3, 8, 4, 11].contains(&columns), "the row keeps its cells: {row}");
    }
    let value: Value = serde_json::from_str(&form(&written, Format::Json, None)).unwrap();
    let tools = value["tools"].as_array().unwrap();
    assert!(
        tools.iter().any(|tool| tool["tool"] == json!(HOSTILE)),
        "a program gets it as it was: {tools:#?}"
    );
}

#[test]
fn the_policy_of_the_page_names_the_digest_of_its_own_style() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let page = form(&every_section(), Format::Html, None);
    let style = page
        .split("<style>")
        .nth(1)
        .and_then(|rest| rest.split("</style>").next())
        .unwrap();
    let digest = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(style));
    assert!(page.contains(&format!("style-src 'sha256-{digest}'")));
    for (open, close) in [
        ("<svg", "</svg>"),
        ("<table", "</table>"),
        ("<tr", "</tr>"),
        ("<td", "</td>"),
        ("<details", "</details>"),
        ("<g>", "</g>"),
    ] {
        let opened = page.matches(open).count();
        assert!(opened > 0 && opened == page.matches(close).count(), "{open}");
    }
}

#[test]
fn it_ends_with_1_while_something_is_open_and_with_0_after() {
    let mut written = Written::new();
    assert_eq!(
        exit(&read(&written, &Span::default())),
        Exit::GOOD,
        "nothing was called"
    );
    let scene = written.intent(1, EffectClass::Write, "book_room", 0);
    assert_eq!(exit(&read(&written, &Span::default())), Exit::FINDINGS, "it runs");
    written.ended(&scene, &Ending::Timeout, 5, &VerdictFacts::default());
    assert_eq!(
        exit(&read(&written, &Span::default())),
        Exit::FINDINGS,
        "it is unknown"
    );
    settle(&written, 1);
    assert_eq!(
        exit(&read(&written, &Span::default())),
        Exit::GOOD,
        "it is settled"
    );
    written.intent(2, EffectClass::Write, "book_room", 10);
    written.end();
    assert_eq!(
        exit(&read(&written, &Span::default())),
        Exit::FINDINGS,
        "it was left open"
    );
}

#[test]
fn what_a_look_showed_is_said_where_nothing_else_is() {
    let written = Written::new();
    written.sent_twice_and_seen(1);
    written.append_all(pair(2, BEGIN, "completed", "applied").to_vec());
    let mut seen: Vec<Option<String>> = Vec::new();
    for item in read(&written, &Span::default()).listed.iter().flatten() {
        seen.push(item.seen.clone());
    }
    seen.sort();
    assert_eq!(
        seen,
        [None, Some("list_bookings shows that it was done".to_owned())]
    );
}

#[test]
fn what_is_only_reported_is_not_passed_off_as_done() {
    let written = Written::new();
    for (number, outcome) in [(1, "completed"), (2, "reported"), (3, "reported")] {
        written.append_all(pair(number, BEGIN, outcome, "unknown").to_vec());
    }
    let headline = |summary: &Summary| super::words::headline(summary);
    let said = headline(&read(&written, &Span::default()));
    assert_eq!(
        said,
        "Nothing is open. 2 calls are only reported: the server told of no error, and nobody looked."
    );
    let written = Written::new();
    written.append_all(pair(1, BEGIN, "completed", "applied").to_vec());
    assert_eq!(headline(&read(&written, &Span::default())), "Nothing is open.");
    let grouped = [0, 999, 1_000, 100_000, 1_234_567].map(super::words::grouped);
    assert_eq!(grouped, ["0", "999", "1,000", "100,000", "1,234,567"]);
}

#[test]
fn an_empty_record_is_a_report_too() {
    let written = Written::new();
    insta::assert_snapshot!("empty", form(&written, Format::Terminal, None));
    for format in [Format::Markdown, Format::Html, Format::Json] {
        let text = form(&written, format, None);
        assert!(
            text.contains("o calls") || text.contains("\"calls\": 0"),
            "{text}"
        );
        assert!(!text.contains("<figure"), "nothing to draw");
    }
}

/// An intent and its verdict without bodies to read.
fn pair(number: u128, at_ms: i64, outcome: &str, effect: &str) -> [Entry; 2] {
    let intent = Entry {
        operation: id(number),
        phase: Phase::Intent,
        at_ms,
        server: "rooms".into(),
        tool: format!("tool_{}", number % 20),
        outcome: None,
        effect: None,
        evidence: None,
        unsettled: false,
        body: b"{}".to_vec(),
    };
    let verdict = Entry {
        phase: Phase::Verdict,
        outcome: Some(outcome.into()),
        effect: Some(effect.into()),
        evidence: Some("declared".into()),
        unsettled: outcome == "unknown",
        ..intent.clone()
    };
    [intent, verdict]
}

#[test]
fn a_long_record_is_read_by_pages_and_no_call_twice() {
    let written = Written::new();
    // More than a page in one millisecond, and others around it.
    for chunk in 0..6_u128 {
        let entries = (0..250).flat_map(|index| {
            let number = chunk * 250 + index + 1;
            let at = if (1..5).contains(&chunk) {
                BEGIN + 500
            } else {
                BEGIN + i64::try_from(number).unwrap()
            };
            pair(number, at, "completed", "applied")
        });
        written.append_all(entries.collect());
    }
    let summary = read(&written, &Span::default());
    assert_eq!((summary.calls, summary.count(Section::Done)), (1_500, 1_500));
    assert_eq!(summary.tools.len(), 20);
    assert_eq!(summary.cut, None);
    let page = form(&written, Format::Html, None);
    assert!(page.contains("8 other tools"), "the chart stays short");
    assert!(page.contains("… and 1,400 more."), "lists stay short, and say so");
}

#[test]
fn what_is_left_out_is_said_and_counts_where_it_is_open() {
    let written = Written::new();
    for number in 1..=5 {
        let outcome = if number == 1 { "unknown" } else { "completed" };
        let at = BEGIN + i64::try_from(number).unwrap() * 1_000;
        written.append_all(pair(number, at, outcome, "unknown").to_vec());
    }
    let of = |most, from_ms| {
        let span = Span {
            from_ms,
            ..Span::default()
        };
        gather(&written.reader(), &span, NOW, most).unwrap()
    };
    let cut = of(3, None);
    assert_eq!((cut.calls, cut.unsettled), (3, 0));
    assert_eq!(exit(&cut), Exit::FINDINGS, "one that was not read is open");
    let headline = super::words::headline(&cut);
    assert!(
        headline.contains("Only the newest 3 calls") && headline.contains("something is open"),
        "{headline}"
    );
    let later = of(3, Some(BEGIN + 2_000));
    assert_eq!((later.calls, later.cut.unwrap().open), (3, false));
    assert_eq!(exit(&later), Exit::GOOD);
    assert_eq!(exit(&of(5, None)), Exit::FINDINGS);
    assert_eq!(of(5, None).cut, None);
}

#[test]
fn a_span_and_a_session_choose_calls() {
    let written = every_section();
    let of = |from: i64, to: i64| {
        let span = Span {
            from_ms: Some(BEGIN + from),
            to_ms: Some(BEGIN + to),
            session: None,
        };
        read(&written, &span).calls
    };
    assert_eq!((of(0, 1_000), of(1_000, 3_000), of(200_000, 300_000)), (1, 2, 0));
    let session = |instance| {
        read(
            &written,
            &Span {
                session: Some(instance),
                ..Span::default()
            },
        )
        .calls
    };
    assert_eq!((session(written.instance()), session(Uuid::nil())), (15, 0));
    let named = |span: &Span| read(&written, span).sessions.len();
    let later = Span {
        from_ms: Some(BEGIN + 200_000),
        ..Span::default()
    };
    assert_eq!((named(&Span::default()), named(&later)), (1, 0));
    assert_eq!(read(&written, &Span::default()).sessions[0].operations, 15);
}

fn args(written: &Written, words: &[&str]) -> Result<ReportArgs, clap::Error> {
    let place = written.place();
    let place = ["--ledger", place.to_str().unwrap()];
    let all = ["candor", "report"].iter().chain(words).chain(&place);
    match Args::try_parse_from(all)?.command {
        Some(Command::Report(args)) => Ok(args),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_is_written_whole_in_the_form_of_its_name_and_not_over_another() {
    let written = every_section();
    let folder = tempfile::tempdir().unwrap();
    for (name, begins) in [
        ("r.html", "<!doctype html>"),
        ("r.md", "# What was really done"),
        ("r.json", "{\n  \"type\": \"report\""),
        ("r.txt", "Ledger: "),
    ] {
        let place = folder.path().join(name);
        let out = ["--out", place.to_str().unwrap()];
        assert_eq!(
            super::run(&args(&written, &out).unwrap()).unwrap(),
            Exit::FINDINGS
        );
        let text = std::fs::read_to_string(&place).unwrap();
        assert!(text.starts_with(begins), "{name}: {text}");
        assert!(super::run(&args(&written, &out).unwrap()).is_err(), "it is there");
        let force = [out[0], out[1], "--force"];
        assert!(super::run(&args(&written, &force).unwrap()).is_ok());
    }
}

#[test]
fn what_cant_be_reported_on_is_a_fault_of_usage() {
    let written = every_section();
    for words in [
        &["--session", "last", "--since", "1h"][..],
        &["--since", "1h", "--from", "2026-11-30"],
        &["--from", "yesterday"],
        &["--format", "pdf"],
        &["--json", "--format", "html"],
        &["--force"],
    ] {
        assert_eq!(args(&written, words).unwrap_err().exit_code(), 2, "{words:?}");
    }
    for words in [
        &["--session", "ffffffff"][..],
        &["--from", "2026-12-01", "--to", "2026-11-01"],
    ] {
        assert!(super::run(&args(&written, words).unwrap()).is_err(), "{words:?}");
    }
    let nowhere = tempfile::tempdir().unwrap();
    let place = nowhere.path().join("none.sqlite");
    let words = ["candor", "report", "--ledger", place.to_str().unwrap()];
    match Args::try_parse_from(words).unwrap().command {
        Some(Command::Report(args)) => assert_eq!(super::run(&args).unwrap(), Exit::USAGE),
        other => panic!("{other:?}"),
    }
    assert!(!place.exists(), "reading makes nothing");
}
