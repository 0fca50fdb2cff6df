//! Looking again: what a call asks for, and what each answer makes of it. Every pair fires and stays quiet.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Run, call, ok_frame, on_disk, replied, result, run};
use crate::call::machine::{Call, Event, Loss};
use crate::contract::effect::{EffectClass, Source, Sourced};
use crate::contract::recovery::ReadBack;
use crate::contract::rules::{Term, Zone};
use crate::contract::terms::ToolTerms;
use crate::contract::tool::{Knowledge, Listed};
use crate::record::Phase;
use crate::recovery::read_back::LookAnswer;
use crate::wire::reply::Reply;
use crate::wire::revision::Revision;

fn term(source: &str) -> Term {
    Term::compile(source, &Zone::utc()).unwrap()
}

fn clause() -> ReadBack {
    ReadBack {
        tool: "list_bookings".to_owned(),
        arguments: vec![("room".to_owned(), term("args.room"))],
        applied: term("answer.bookings.exists(b, b.room == args.room)"),
        not_applied: Some(term("!answer.bookings.exists(b, b.room == args.room)")),
        attempts: 2,
        wait: Duration::from_millis(500),
        window: Duration::from_secs(1),
        prove: false,
    }
}

fn learnt(class: EffectClass, read_back: ReadBack) -> Event {
    let definition = json!({ "name": "book_room", "inputSchema": { "type": "object" } });
    let raw = serde_json::value::to_raw_value(&definition).unwrap();
    let terms = ToolTerms {
        class: Some(Sourced::new(class, Source::CommandLine)),
        read_back: Some(Sourced::new(read_back, Source::CommandLine)),
        ..ToolTerms::default()
    };
    Event::Learnt(Knowledge::Listed(Arc::new(
        Listed::read(&raw).unwrap().compile(terms),
    )))
}

/// A call of this class that is sent and waits.
fn sent(class: EffectClass, read_back: ReadBack) -> Call {
    let mut call = call(&json!({ "room": 12 }), false);
    run(&mut call, vec![learnt(class, read_back), on_disk(), Event::Sent]);
    call
}

fn saw(rooms: &[u32]) -> Event {
    let bookings: Vec<Value> = rooms.iter().map(|room| json!({ "room": room })).collect();
    let result =
        json!({ "content": [{ "type": "text", "text": json!({ "bookings": bookings }).to_string() }] });
    let reply = Reply::parse(format!(r#"{{"jsonrpc":"2.0","id":9,"result":{result}}}"#)).unwrap();
    Event::Looked(LookAnswer::read(
        reply,
        Revision::V2025_11_25,
        &ToolTerms::default(),
    ))
}

fn blind() -> Event {
    Event::Looked(Err("no answer came in time".to_owned()))
}

fn flagged() -> Event {
    ok_frame(&json!({ "isError": true, "content": [{ "type": "text", "text": "database is locked" }] }))
}

fn closed() -> Event {
    Event::Lost(Loss::Closed {
        exit: "exit 9".to_owned(),
        restarts: true,
    })
}

/// What one ending and what was seen after it come to: the verdict, the flag, the text, the record.
fn told(class: EffectClass, clause: ReadBack, events: Vec<Event>) -> (Value, Value, String, Run) {
    let mut call = call(&json!({ "room": 12 }), false);
    let mut told = run_from_start(&mut call, class, clause, events);
    // The intent is none of it.
    told.entries.remove(0);
    let answer = result(&told)["result"].clone();
    let text = answer["content"][0]["text"].as_str().unwrap().to_owned();
    (
        answer["_meta"]["candor/verdict"].clone(),
        answer["isError"].clone(),
        text,
        told,
    )
}

/// All in one list: a list of its own would begin at the first moment again.
fn run_from_start(call: &mut Call, class: EffectClass, clause: ReadBack, events: Vec<Event>) -> Run {
    let mut all = vec![learnt(class, clause), on_disk(), Event::Sent];
    all.extend(events);
    run(call, all)
}

fn write(mut events: Vec<Event>) -> (Value, Value, String, Run) {
    events.push(on_disk());
    told(EffectClass::Write, clause(), events)
}

#[test]
fn a_lost_answer_is_looked_after_at_once_by_the_arguments_of_the_contract() {
    let mut call = sent(EffectClass::Write, clause());
    let asked = run(&mut call, vec![closed()]);
    assert_eq!(
        asked.looks,
        [("list_bookings".to_owned(), json!({ "room": 12 }), Duration::ZERO)]
    );
    assert!(
        asked.delivered.is_empty() && asked.entries.is_empty(),
        "nothing is told before"
    );
}

#[test]
fn without_the_clause_or_on_a_read_nothing_is_looked_at() {
    let mut read = sent(EffectClass::Read, clause());
    assert!(run(&mut read, vec![closed()]).looks.is_empty());
    let mut bare = call(&json!({ "room": 12 }), false);
    let events = vec![super::listed(None), on_disk(), Event::Sent, closed()];
    assert!(run(&mut bare, events).looks.is_empty());
    let mut unsent = call(&json!({ "room": 12 }), false);
    let never = Event::Lost(Loss::NeverLeft {
        why: "is gone".to_owned(),
        lasts: true,
    });
    let events = vec![
        learnt(EffectClass::Write, clause()),
        on_disk(),
        Event::Sent,
        never,
    ];
    assert!(
        run(&mut unsent, events).looks.is_empty(),
        "what never left left nothing behind"
    );
}

#[test]
fn a_lost_answer_that_is_seen_done_is_told_as_done() {
    let (verdict, flag, text, run) = write(vec![closed(), saw(&[12])]);
    assert_eq!(
        (&verdict["outcome"], &verdict["effect"], &verdict["evidence"]),
        (&json!("completed"), &json!("applied"), &json!("read_back"))
    );
    assert_eq!(flag, json!(false));
    assert!(
        text.starts_with("DONE: server \"rooms\" ended (exit 9)"),
        "{text}"
    );
    assert!(text.contains("list_bookings shows that it was done."), "{text}");
    let body: Value = serde_json::from_str(&run.entries[0].body).unwrap();
    assert_eq!(body["readBack"]["shows"], "applied");
    assert_eq!(body["readBack"]["arguments"], json!({ "room": 12 }));
    assert!(body["readBack"]["answer"].is_object(), "the evidence is kept");
}

#[test]
fn one_that_is_seen_undone_is_told_as_not_done() {
    let (verdict, flag, text, _) = write(vec![closed(), saw(&[14])]);
    assert_eq!(
        (&verdict["outcome"], &verdict["effect"], &verdict["evidence"]),
        (&json!("failed"), &json!("not_applied"), &json!("read_back"))
    );
    assert_eq!(
        (&verdict["error"]["repeat"], flag),
        (&json!("may_help"), json!(true))
    );
    assert!(text.starts_with("NOT DONE: "), "{text}");
    assert!(text.contains("shows that nothing changed."), "{text}");
}

#[test]
fn to_have_looked_in_vain_makes_nothing_better_and_is_said() {
    let mut call = sent(EffectClass::Write, clause());
    let again = run(&mut call, vec![closed(), blind()]);
    assert_eq!(again.looks.len(), 2, "the contract asks for two");
    let last = run(&mut call, vec![blind(), on_disk()]);
    let answer = result(&last)["result"].clone();
    let verdict = &answer["_meta"]["candor/verdict"];
    assert_eq!(
        (&verdict["outcome"], &verdict["effect"], &verdict["evidence"]),
        (&json!("unknown"), &json!("unknown"), &json!("none"))
    );
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("UNKNOWN: "), "{text}");
    assert!(
        text.contains("Candor looked 2 times with list_bookings"),
        "{text}"
    );
    assert_eq!(answer["_meta"]["candor/findings"][0]["code"], "read_back_nothing");
    assert_eq!(
        last.looks.len(),
        1,
        "and it is looked at further, once it is told"
    );
}

#[test]
fn a_look_that_failed_is_told_apart_from_none() {
    let verdict_of =
        |run: &Run| -> Value { serde_json::from_str(&run.entries.last().unwrap().body).unwrap() };
    let (failed, _, told, looked) = write(vec![closed(), blind(), blind()]);
    assert_eq!(failed["effect"], "unknown");
    assert!(told.contains("Candor looked"), "{told}");
    let body = verdict_of(&looked);
    assert_eq!(
        (&body["readBack"]["shows"], &body["readBack"]["looks"]),
        (&json!("nothing"), &json!(2))
    );
    let mut bare = call(&json!({ "room": 12 }), false);
    let none = run(
        &mut bare,
        vec![super::listed(None), on_disk(), Event::Sent, closed(), on_disk()],
    );
    let answer = result(&none)["result"].clone();
    assert_eq!(answer["_meta"]["candor/verdict"]["effect"], "unknown");
    assert_eq!(answer["_meta"].get("candor/findings"), None);
    let told = answer["content"][0]["text"].as_str().unwrap();
    assert!(!told.contains("looked"), "{told}");
    assert_eq!(verdict_of(&none)["readBack"], Value::Null);
}

#[test]
fn not_applied_counts_only_after_the_window() {
    let late = ReadBack {
        window: Duration::from_secs(60),
        attempts: 1,
        ..clause()
    };
    let (verdict, ..) = told(
        EffectClass::Write,
        late.clone(),
        vec![closed(), saw(&[]), on_disk()],
    );
    assert_eq!(verdict["effect"], "unknown");
    let (verdict, ..) = told(EffectClass::Write, late, vec![closed(), saw(&[12]), on_disk()]);
    assert_eq!(verdict["effect"], "applied", "what is there is there");
}

#[test]
fn what_may_still_be_at_work_is_not_done_only_by_a_window() {
    let events = || vec![Event::TimedOut, saw(&[]), on_disk()];
    let open = ReadBack {
        window: Duration::ZERO,
        attempts: 1,
        ..clause()
    };
    let (verdict, ..) = told(EffectClass::Write, open, events());
    assert_eq!(verdict["effect"], "unknown", "it may show a moment later");
    let (verdict, ..) = told(EffectClass::Write, clause(), events());
    assert_eq!(
        verdict["effect"], "not_applied",
        "the operator says when it is over"
    );
}

#[test]
fn an_error_is_no_proof_either_way() {
    let (verdict, flag, text, _) = write(vec![flagged(), saw(&[12])]);
    assert_eq!(
        (&verdict["outcome"], &verdict["effect"], &verdict["evidence"]),
        (&json!("failed"), &json!("applied"), &json!("read_back"))
    );
    assert!(text.starts_with("DONE, THOUGH REPORTED AS AN ERROR: "), "{text}");
    assert_eq!(flag, json!(true));
    let (verdict, _, text, _) = write(vec![flagged(), saw(&[])]);
    assert_eq!(
        (&verdict["outcome"], &verdict["effect"]),
        (&json!("failed"), &json!("not_applied"))
    );
    assert!(
        text.starts_with("NOT DONE: ") && text.contains("database is locked"),
        "{text}"
    );
}

#[test]
fn a_success_is_looked_at_only_where_proof_is_asked_for() {
    let booked = || ok_frame(&json!({ "content": [{ "type": "text", "text": "booked" }] }));
    let mut trusted = sent(EffectClass::Write, clause());
    assert!(run(&mut trusted, vec![booked()]).looks.is_empty());
    let prove = ReadBack {
        prove: true,
        ..clause()
    };
    let (verdict, flag, text, _) = told(
        EffectClass::Write,
        prove.clone(),
        vec![booked(), saw(&[12]), on_disk()],
    );
    assert_eq!(
        (&verdict["outcome"], &verdict["evidence"]),
        (&json!("completed"), &json!("read_back"))
    );
    assert_eq!((text.as_str(), flag), ("booked", Value::Null), "its bytes stay");
    let (verdict, flag, text, _) = told(EffectClass::Write, prove, vec![booked(), saw(&[]), on_disk()]);
    assert_eq!(
        (&verdict["outcome"], &verdict["effect"]),
        (&json!("failed"), &json!("not_applied"))
    );
    assert_eq!(flag, json!(true));
    assert!(
        text.starts_with("NOT DONE: server \"rooms\" reported no error for book_room, but list_bookings"),
        "{text}"
    );
}

#[test]
fn a_tool_that_can_not_be_asked_is_a_finding_and_no_look() {
    let cannot = Event::CannotLook {
        why: "list_bookings is no tool that the server lists".to_owned(),
    };
    let (verdict, _, text, run) = write(vec![closed(), cannot]);
    assert_eq!(verdict["effect"], "unknown");
    assert!(
        text.contains("Candor could not look with list_bookings"),
        "{text}"
    );
    let body: Value = serde_json::from_str(&run.entries[0].body).unwrap();
    assert_eq!(body["findings"][0]["code"], "read_back_unusable");
    assert_eq!(run.looks.len(), 1, "nor is it tried again");
}

#[test]
fn the_answer_that_comes_while_candor_looks_is_the_answer() {
    let booked =
        replied(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"booked"}]}}"#);
    let (verdict, _, text, _) = write(vec![Event::TimedOut, booked]);
    assert_eq!(
        (&verdict["outcome"], text.as_str()),
        (&json!("reported"), "booked")
    );
}

#[test]
fn a_later_look_amends_the_record_and_nobody_is_told_twice() {
    let mut call = sent(EffectClass::Write, clause());
    let told = run(&mut call, vec![closed(), blind(), blind(), on_disk()]);
    assert_eq!(told.looks.len(), 3);
    let settled = run(&mut call, vec![blind(), saw(&[12])]);
    assert!(settled.delivered.is_empty());
    assert_eq!((settled.entries.len(), settled.looks.len()), (1, 1));
    let entry = &settled.entries[0];
    assert_eq!(entry.phase, Phase::Amendment);
    let concluded = entry.concluded.unwrap();
    assert_eq!(
        (
            concluded.outcome.as_str(),
            concluded.evidence.as_str(),
            concluded.unsettled
        ),
        ("completed", "read_back", false)
    );
}

#[test]
fn later_looks_wait_longer_each_time_and_end() {
    let mut call = sent(EffectClass::Write, clause());
    run(&mut call, vec![closed(), blind(), blind()]);
    let mut waits = Vec::new();
    let mut event = on_disk();
    loop {
        let looks = run(&mut call, vec![event]).looks;
        let Some((_, _, wait)) = looks.first() else { break };
        waits.push(wait.as_secs());
        event = blind();
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
}

#[test]
fn a_late_answer_does_not_forget_what_was_seen() {
    let write = |events| {
        let mut call = call(&json!({ "room": 12 }), false);
        run_from_start(&mut call, EffectClass::Write, clause(), events)
    };
    let late = write(vec![Event::TimedOut, saw(&[12]), on_disk(), flagged()]);
    let concluded = late.entries[2].concluded.unwrap();
    assert_eq!(
        (
            concluded.outcome.as_str(),
            concluded.effect.as_str(),
            concluded.evidence.as_str()
        ),
        ("failed", "applied", "read_back")
    );
    let booked = ok_frame(&json!({ "content": [{ "type": "text", "text": "booked" }] }));
    let late = write(vec![Event::TimedOut, saw(&[]), on_disk(), booked]);
    assert_eq!(late.entries[1].concluded.unwrap().effect.as_str(), "not_applied");
    assert_eq!(late.entries[2].concluded.unwrap().outcome.as_str(), "reported");
    assert_eq!(late.looks.len(), 2, "a success after all is looked at again");
}
