//! A person's word in the record: who may give it, what it leaves, and what is refused.

use candor_core::contract::effect::EffectClass;
use candor_core::contract::mapping::Reading;
use candor_core::judgment::ending::Ending;
use candor_core::judgment::how::How;
use candor_core::record::bodies::VerdictFacts;
use clap::Parser;

use super::*;
use crate::args::{Args, Command};
use crate::written::{Written, id, replied};

fn args(written: &Written, words: &[&str]) -> SettleArgs {
    let place = written.place();
    let place = ["--ledger", place.to_str().unwrap()];
    let all = ["candor", "settle"].iter().chain(words).chain(&place);
    match Args::try_parse_from(all).unwrap().command {
        Some(Command::Settle(args)) => args,
        other => panic!("{other:?}"),
    }
}

fn settle(written: &Written, number: u128, word: &str, more: &[&str]) -> Exit {
    let id = id(number).to_string();
    let mut words = vec![id.as_str(), word, "--because", "I looked"];
    words.extend(more);
    run(&args(written, &words)).unwrap()
}

/// Outcome, effect, evidence, and whether somebody has to settle it.
fn stands(written: &Written, number: u128) -> (String, String, String, bool) {
    let (call, _) = found(&written.reader(), &id(number).to_string())
        .unwrap()
        .unwrap();
    let is = call.concluded.unwrap();
    (is.outcome, is.effect, is.evidence, call.unsettled)
}

fn phases(written: &Written, number: u128) -> Vec<&'static str> {
    let (_, records) = found(&written.reader(), &id(number).to_string())
        .unwrap()
        .unwrap();
    records
        .iter()
        .map(|record| show::phase(record.entry.phase))
        .collect()
}

fn is(outcome: &str, effect: &str, evidence: &str, unsettled: bool) -> (String, String, String, bool) {
    (outcome.into(), effect.into(), evidence.into(), unsettled)
}

#[test]
fn a_word_settles_what_nobody_knew_and_what_was_said_before_stays() {
    let written = Written::new();
    written.every_kind();
    let before = written.reader().operation(&id(4).to_string()).unwrap();
    assert_eq!(settle(&written, 4, "--applied", &[]), Exit::GOOD);
    assert_eq!(stands(&written, 4), is("completed", "applied", "operator", false));
    assert_eq!(phases(&written, 4), ["intent", "verdict", "amendment"]);
    let (Lookup::One(before), Lookup::One(after)) =
        (before, written.reader().operation(&id(4).to_string()).unwrap())
    else {
        panic!()
    };
    assert_eq!(before, after[..2], "the records of before are untouched");
    let body: Value = serde_json::from_slice(&after[2].entry.body).unwrap();
    assert_eq!(body["settled"]["because"], "I looked");
    assert_eq!(body["how"], "settled_applied");
    assert_ne!(after[2].instance, after[0].instance, "it is a chain of its own");
    assert!(written.reader().verify().unwrap().is_clean());
}

#[test]
fn what_an_ended_instance_left_open_gets_its_verdict_first() {
    let mut written = Written::new();
    written.every_kind();
    assert_eq!(
        settle(&written, 7, "--not-applied", &["--anyway"]),
        Exit::FINDINGS,
        "a call that still runs is nobody's to settle"
    );
    assert_eq!(phases(&written, 7), ["intent"]);
    written.end();
    assert_eq!(settle(&written, 7, "--not-applied", &[]), Exit::GOOD);
    assert_eq!(phases(&written, 7), ["intent", "verdict", "amendment"]);
    assert_eq!(
        stands(&written, 7),
        is("failed", "not_applied", "operator", false)
    );
    assert!(
        written.reader().verify().unwrap().is_clean(),
        "the list of open ones is right too"
    );
}

#[test]
fn what_is_known_is_settled_only_anyway() {
    let written = Written::new();
    written.every_kind();
    assert_eq!(settle(&written, 2, "--not-applied", &[]), Exit::FINDINGS);
    assert_eq!(stands(&written, 2), is("completed", "applied", "declared", false));
    assert_eq!(settle(&written, 2, "--not-applied", &["--anyway"]), Exit::GOOD);
    assert_eq!(
        stands(&written, 2),
        is("failed", "not_applied", "operator", false)
    );
    // Settled twice: the second word needs the same will.
    assert_eq!(settle(&written, 2, "--applied", &[]), Exit::FINDINGS);
    assert_eq!(settle(&written, 2, "--applied", &["--anyway"]), Exit::GOOD);
    assert_eq!(stands(&written, 2), is("completed", "applied", "operator", false));
    assert_eq!(phases(&written, 2).len(), 4, "no word is lost");
    let refused = refusal(
        &found(&written.reader(), &id(2).to_string()).unwrap().unwrap().0,
        &args(&written, &["x234", "--applied", "--because", "y"]),
    )
    .unwrap();
    assert!(
        refused.contains("evidence operator") && refused.contains("--anyway"),
        "it says what stands: {refused}"
    );
}

#[test]
fn an_accepted_call_and_one_that_only_reads_take_a_word_too() {
    let mut written = Written::new();
    let accepted = written.intent(1, EffectClass::Write, "send_report", 0);
    written.ended(
        &accepted,
        &replied(How::Ok, Some(Reading::Accepted)),
        5,
        &VerdictFacts::default(),
    );
    let read = written.intent(2, EffectClass::Read, "list_rooms", 10);
    written.ended(&read, &Ending::Timeout, 20, &VerdictFacts::default());
    written.end();
    assert_eq!(settle(&written, 1, "--not-applied", &[]), Exit::GOOD);
    assert_eq!(
        stands(&written, 1),
        is("failed", "not_applied", "operator", false)
    );
    assert_eq!(settle(&written, 2, "--applied", &["--anyway"]), Exit::GOOD);
    assert_eq!(
        stands(&written, 2),
        is("completed", "not_applied", "operator", false),
        "a read changes nothing, whoever says so"
    );
}

#[test]
fn an_id_that_is_none_or_several_settles_nothing() {
    let written = Written::new();
    let (one, other) = (1, 0x1_0001);
    for number in [one, other] {
        let scene = written.intent(number, EffectClass::Write, "book_room", 0);
        written.ended(&scene, &Ending::Timeout, 5, &VerdictFacts::default());
    }
    let by = |id: &str| run(&args(&written, &[id, "--applied", "--because", "I looked"]));
    assert_eq!(by("1111").unwrap(), Exit::USAGE);
    assert_eq!(by("3333").unwrap(), Exit::FINDINGS);
    assert!(by("xyz").is_err(), "no end of an id");
    assert_eq!(
        (phases(&written, one).len(), phases(&written, other).len()),
        (2, 2)
    );
    assert_eq!(by("2222-1111").unwrap(), Exit::GOOD);
    assert_eq!(
        (phases(&written, one).len(), phases(&written, other).len()),
        (2, 3)
    );
}

#[test]
fn a_word_needs_a_side_and_a_reason() {
    let long = "x".repeat(2_001);
    for (words, hint) in [
        (&["8f2c", "--because", "x"][..], "--applied"),
        (&["8f2c", "--applied"], "--because"),
        (&["8f2c", "--applied", "--because", "  "], "a reason is needed"),
        (&["8f2c", "--applied", "--because", &long], "2000"),
        (
            &["8f2c", "--applied", "--not-applied", "--because", "x"],
            "--not-applied",
        ),
    ] {
        let fault = Args::try_parse_from(["candor", "settle"].iter().chain(words)).unwrap_err();
        assert!(fault.to_string().contains(hint), "{hint}: {fault}");
        assert_eq!(fault.exit_code(), 2);
    }
}

#[test]
fn the_page_and_the_answer_tell_whose_word_it_was() {
    let written = Written::new();
    written.every_kind();
    let args = args(
        &written,
        &[
            &id(4).to_string(),
            "--applied",
            "--because",
            "seen \u{1b}[2J with ghp_0123456789abcdefghijABCDEFGHIJ012345",
        ],
    );
    let (before, records) = found(&written.reader(), &args.id).unwrap().unwrap();
    write(
        &written.reader(),
        entries(&before, &records, &args, "ada\u{202e}"),
    )
    .unwrap();
    let (after, _) = found(&written.reader(), &args.id).unwrap().unwrap();
    let mut out = Vec::new();
    print(&mut out, &before, &after, &args, "ada\u{202e}").unwrap();
    let said = String::from_utf8(out).unwrap();
    assert!(said.contains("unknown → completed"), "{said}");
    let json = as_json(&before, &after, &args, "ada");
    assert_eq!(json["was"]["outcome"], "unknown");
    assert_eq!(
        (&json["outcome"], &json["evidence"]),
        (&json!("completed"), &json!("operator"))
    );
    for text in [said, Value::Object(json).to_string()] {
        assert!(!text.contains("ghp_") && !text.contains('\u{202e}'), "{text}");
    }
}
