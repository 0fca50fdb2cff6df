//! One call, whole: what stands on its page.

use super::*;
use crate::written::{BEGIN, Written, id};

fn shown(written: &Written, number: u128) -> Shown {
    let Lookup::One(records) = written.reader().operation(&id(number).to_string()).unwrap() else {
        panic!("{number}")
    };
    let call = find(&written.reader(), &records, BEGIN + 90_000)
        .unwrap()
        .unwrap();
    Shown {
        call,
        records,
        columns: 100,
    }
}

fn page(written: &Written, number: u128, lang: Lang) -> String {
    let mut out = Vec::new();
    shown(written, number)
        .print(&mut out, &written.reader(), lang)
        .unwrap();
    written.fixed(&String::from_utf8(out).unwrap())
}

#[test]
fn a_page_answers_three_questions_and_shows_the_rest() {
    let mut written = Written::new();
    written.every_kind();
    insta::assert_snapshot!("reported", page(&written, 1, Lang::En));
    insta::assert_snapshot!("rejected_zh", page(&written, 3, Lang::Zh));
    insta::assert_snapshot!("timeout", page(&written, 4, Lang::En));
    insta::assert_snapshot!("amended", page(&written, 5, Lang::En));
    insta::assert_snapshot!("error_with_a_hostile_name", page(&written, 6, Lang::En));
    insta::assert_snapshot!("running", page(&written, 7, Lang::En));
    written.end();
    insta::assert_snapshot!("left_open", page(&written, 7, Lang::En));
}

#[test]
fn a_page_tells_each_sending_and_what_a_look_saw() {
    let written = Written::new();
    written.sent_twice_and_seen(2);
    insta::assert_snapshot!("looked_at", page(&written, 2, Lang::En));
    let unseen = Written::new();
    unseen.every_kind();
    let page = page(&unseen, 5, Lang::En);
    assert!(!page.contains("Read-back") && !page.contains("looked:"), "{page}");
    assert!(!page.contains("attempt 2 recorded"), "{page}");
}

#[test]
fn no_page_obeys_what_a_server_wrote_or_shows_a_credential() {
    let written = Written::new();
    written.every_kind();
    for number in 1..=8 {
        let page = page(&written, number, Lang::En);
        assert!(
            !page.chars().any(|letter| letter.is_control() && letter != '\n'),
            "{page:?}"
        );
        assert!(!page.contains("ghp_"), "{page}");
    }
}

#[test]
fn a_program_gets_the_call_its_sentence_and_every_record_whole() {
    let written = Written::new();
    written.every_kind();
    let json = shown(&written, 5).to_json(Lang::Zh);
    assert_eq!(json["outcome"], "completed");
    assert_eq!(json["sentence"], "已完成：rooms 的 book_room。更改已生效。");
    let records = json["records"].as_array().unwrap();
    let phases: Vec<&str> = records
        .iter()
        .map(|record| record["phase"].as_str().unwrap())
        .collect();
    assert_eq!(phases, ["intent", "verdict", "amendment"]);
    assert_eq!(records[1]["body"]["text"], "UNKNOWN: book_room was sent once.");
    assert_eq!(records[0]["digest"].as_str().unwrap().len(), 64);
}

#[test]
fn a_record_of_a_newer_program_is_said_to_be_one() {
    let written = Written::new();
    let scene = written.intent(
        1,
        candor_core::contract::effect::EffectClass::Write,
        "book_room",
        0,
    );
    written.append(candor_ledger::Entry {
        operation: scene.operation.uuid(),
        phase: Phase::Verdict,
        at_ms: BEGIN + 5,
        server: "rooms".into(),
        tool: "book_room".into(),
        outcome: Some("completed".into()),
        effect: Some("applied".into()),
        evidence: Some("declared".into()),
        unsettled: false,
        body: br#"{"v":9,"text":"secret of the future"}"#.to_vec(),
    });
    let page = page(&written, 1, Lang::En);
    assert!(page.contains("version 9") && page.contains("completed"), "{page}");
    assert!(!page.contains("secret of the future"), "{page}");
    assert_eq!(shown(&written, 1).to_json(Lang::En)["records"][1]["body"]["v"], 9);
}

#[test]
fn an_end_of_several_ids_is_not_guessed_and_a_unique_one_is_enough() {
    use clap::Parser;
    let written = Written::new();
    // The two ids end in the same four digits, and in other eight.
    let (one, other) = (1, 0x1_0001);
    for number in [one, other] {
        written.intent(
            number,
            candor_core::contract::effect::EffectClass::Write,
            "book_room",
            0,
        );
    }
    let place = written.place();
    let ends_with = |id: &str| {
        let words = ["candor", "show", id, "--ledger", place.to_str().unwrap()];
        match crate::args::Args::try_parse_from(words).unwrap().command {
            Some(crate::args::Command::Show(args)) => run(&args).unwrap(),
            command => panic!("{command:?}"),
        }
    };
    assert_eq!(ends_with("1111"), Exit::USAGE);
    assert_eq!(ends_with("2222-1111"), Exit::GOOD);
    assert_eq!(ends_with(&id(one).to_string().to_uppercase()), Exit::GOOD);
    assert_eq!(ends_with("3333"), Exit::FINDINGS);
    let line = candidate(&written.reader(), id(other)).unwrap();
    assert!(
        line.contains(&id(other).to_string()) && line.contains("book_room on rooms"),
        "{line}"
    );
}
