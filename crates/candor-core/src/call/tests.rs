//! The machine of one call, driven by lists of events. No clock: every moment is given.

mod asking;
mod holding;
mod keys;
mod looking;
mod retrying;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::keyed::KeyUse;
use super::machine::{Action, Call, Circumstances, Event, Loss};
use super::request::CallRequest;
use crate::contract::effect::{EffectClass, Source, Sourced};
use crate::contract::mapping::scalar::Scalar;
use crate::contract::mapping::{Document, Mapping, ValueList, Values};
use crate::contract::terms::ToolTerms;
use crate::contract::tool::{Knowledge, Listed, Tool};
use crate::delivery::redaction::KnownSecrets;
use crate::judgment::verdict::{Effect, Outcome};
use crate::names::{OperationId, ServerName, UnixMillis};
use crate::record::{Entry, Phase, Receipt, Recording};
use crate::wire::encode::Pieces;
use crate::wire::reply::Reply;
use crate::wire::revision::Revision;

fn circumstances(ledger_required: bool) -> Arc<Circumstances> {
    Arc::new(Circumstances {
        server: ServerName::from("rooms"),
        host: Some("test".to_owned()),
        principal: Some("ada".to_owned()),
        ledger_required,
        has_ledger: true,
        deadline: std::time::Duration::from_secs(55),
        secrets: KnownSecrets::default(),
    })
}

fn tool(class: Option<EffectClass>) -> Arc<Tool> {
    tool_with(ToolTerms {
        class: class.map(|class| Sourced::new(class, Source::CommandLine)),
        ..ToolTerms::default()
    })
}

fn tool_with(terms: ToolTerms) -> Arc<Tool> {
    let definition = json!({
        "name": "book_room",
        "inputSchema": { "type": "object", "properties": { "room": { "type": "integer" } }, "required": ["room"] },
    });
    let raw = serde_json::value::to_raw_value(&definition).unwrap();
    Arc::new(Listed::read(&raw).unwrap().compile(terms))
}

fn listed(class: Option<EffectClass>) -> Event {
    Event::Learnt(Knowledge::Listed(tool(class)))
}

fn call(arguments: &Value, ledger_required: bool) -> Call {
    let params = json!({ "name": "book_room", "arguments": arguments });
    let text = format!(r#"{{"jsonrpc":"2.0","id":"host-1","method":"tools/call","params":{params}}}"#);
    let request = CallRequest::parse(&text, Revision::V2025_11_25).unwrap().unwrap();
    let id = OperationId::new(Uuid::from_u128(0x0199_8f2c_1a90));
    let (call, actions) = Call::open(request, id, circumstances(ledger_required), 0, UnixMillis(1_000));
    assert!(matches!(actions.as_slice(), [Action::Learn { refresh: false }]));
    call
}

fn on_disk() -> Event {
    Event::Recorded(Recording::OnDisk(Receipt::asserted_by_ledger(1)))
}

fn not_recorded() -> Event {
    Event::Recorded(Recording::Not {
        why: "disk full".to_owned(),
    })
}

/// Everything that one list of events brings about.
#[derive(Default)]
struct Run {
    entries: Vec<Entry>,
    sends: u32,
    delivered: Vec<String>,
    cancels: u32,
    refreshes: u32,
    questions: u32,
    waits: Vec<bool>,
    retries: Vec<std::time::Duration>,
    looks: Vec<(String, Value, std::time::Duration)>,
    keys: Vec<KeyUse>,
    key_looks: u32,
    holds: Vec<std::time::Duration>,
}

fn run(call: &mut Call, events: Vec<Event>) -> Run {
    let mut run = Run::default();
    let mut now = 1_000;
    for event in events {
        now += 1_000;
        for action in call.on(event, UnixMillis(now)) {
            match action {
                Action::Learn { refresh } => run.refreshes += u32::from(refresh),
                Action::Record { entries, wait } => {
                    run.waits.push(wait);
                    run.entries.extend(entries);
                }
                Action::RecordKeyed { entries, key } => {
                    run.entries.extend(entries);
                    run.keys.push(key);
                }
                Action::AwaitKey | Action::LookUpKey { .. } => run.key_looks += 1,
                Action::Send => run.sends += 1,
                Action::CancelUpstream => run.cancels += 1,
                Action::Deliver(delivery) => {
                    run.delivered.extend(delivery.into_frame().map(Pieces::into_text));
                }
                Action::Ask => run.questions += 1,
                Action::ReadBack {
                    tool,
                    arguments,
                    after,
                } => run.looks.push((tool, arguments, after)),
                Action::Wait { after } => run.retries.push(after),
                Action::Hold { within } => run.holds.push(within),
                Action::Told { .. } => {}
            }
        }
    }
    run
}

fn replied(frame: impl Into<bytestring::ByteString>) -> Event {
    Event::Replied(Reply::parse(frame).expect("a test's reply is one"))
}

fn ok_frame(result: &Value) -> Event {
    replied(format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#))
}

fn result(run: &Run) -> Value {
    assert_eq!(run.delivered.len(), 1, "one answer");
    serde_json::from_str(&run.delivered[0]).unwrap()
}

#[test]
fn a_good_call_is_recorded_sent_judged_recorded_and_told_in_this_order() {
    let mut call = call(&json!({ "room": 12 }), false);
    let before_send = run(&mut call, vec![listed(None)]);
    assert_eq!(
        (before_send.sends, before_send.entries.len(), before_send.waits[0]),
        (0, 1, true)
    );
    assert_eq!(before_send.entries[0].phase, Phase::Intent);
    assert_eq!(
        run(&mut call, vec![on_disk()]).sends,
        1,
        "sent only when the intent is on disk"
    );
    assert!(call.upstream("7").contains(r#""id":7"#));
    let reply = ok_frame(&json!({ "content": [{ "type": "text", "text": "done" }] }));
    let judged = run(&mut call, vec![Event::Sent, reply]);
    assert!(
        judged.delivered.is_empty(),
        "nothing is told before the verdict is on disk"
    );
    assert_eq!(judged.entries[0].concluded.unwrap().outcome, Outcome::Reported);
    let told = run(&mut call, vec![on_disk()]);
    let answer = result(&told);
    assert_eq!(answer["id"], "host-1");
    assert_eq!(
        answer["result"]["content"],
        json!([{ "type": "text", "text": "done" }])
    );
    assert_eq!(answer["result"]["_meta"]["candor/verdict"]["recorded"], true);
}

#[test]
fn a_refusal_asks_the_server_anew_first_and_is_one_record() {
    let mut call = call(&json!({ "rom": "x" }), false);
    let first = run(&mut call, vec![listed(None)]);
    assert_eq!(
        (first.refreshes, first.entries.len()),
        (1, 0),
        "nobody is refused by a stale schema"
    );
    let told = run(&mut call, vec![listed(None), on_disk()]);
    let phases: Vec<Phase> = told.entries.iter().map(|entry| entry.phase).collect();
    assert_eq!(phases, [Phase::Intent, Phase::Verdict]);
    assert_eq!(told.sends, 0);
    let text = result(&told)["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        text.starts_with("NOT DONE: book_room was not sent to server \"rooms\""),
        "{text}"
    );
}

#[test]
fn what_the_new_list_admits_goes_through() {
    let mut call = call(&json!({ "room": "x" }), false);
    let renewed = {
        let raw = serde_json::value::to_raw_value(
            &json!({ "name": "book_room", "inputSchema": { "type": "object", "properties": { "room": { "type": "string" } } } }),
        )
        .unwrap();
        Event::Learnt(Knowledge::Listed(Arc::new(
            Listed::read(&raw).unwrap().compile(ToolTerms::default()),
        )))
    };
    assert_eq!(run(&mut call, vec![listed(None), renewed, on_disk()]).sends, 1);
}

#[test]
fn a_call_that_cant_be_recorded_is_refused_by_class_and_by_requirement() {
    let refused = |class, required| {
        let mut call = call(&json!({ "room": 1 }), required);
        let run = run(&mut call, vec![listed(class), not_recorded(), not_recorded()]);
        assert_eq!(
            run.sends + u32::try_from(run.delivered.len()).unwrap(),
            1,
            "sent or refused"
        );
        run.sends == 0
    };
    let (read, write) = (Some(EffectClass::Read), Some(EffectClass::Write));
    assert!(refused(write, false) && refused(write, true));
    assert!(refused(None, true) && !refused(None, false));
    assert!(!refused(read, false) && !refused(read, true));
}

#[test]
fn an_unrecorded_call_that_goes_through_says_so() {
    let mut call = call(&json!({ "room": 1 }), false);
    let reply = ok_frame(&json!({ "content": [] }));
    let told = run(
        &mut call,
        vec![listed(None), not_recorded(), Event::Sent, reply, on_disk()],
    );
    let meta = &result(&told)["result"]["_meta"];
    assert_eq!(meta["candor/verdict"]["recorded"], false);
    assert_eq!(meta["candor/notRecorded"], "disk full");
}

#[test]
fn a_verdict_that_cant_be_written_is_still_delivered_and_says_so() {
    let mut call = call(&json!({ "room": 1 }), false);
    let reply = ok_frame(&json!({ "content": [] }));
    let told = run(
        &mut call,
        vec![listed(None), on_disk(), Event::Sent, reply, not_recorded()],
    );
    assert_eq!(
        result(&told)["result"]["_meta"]["candor/verdict"]["recorded"],
        false
    );
    assert_eq!(
        result(&told)["result"]["_meta"]["candor/verdict"]["outcome"],
        "reported"
    );
}

#[test]
fn trusted_reads_do_not_wait_for_the_disk() {
    let waits = |class| run(&mut call(&json!({ "room": 1 }), false), vec![listed(class)]).waits;
    assert_eq!(waits(Some(EffectClass::Read)), [false]);
    assert_eq!(waits(None), [true]);
}

#[test]
fn a_late_answer_amends_the_record_and_tells_nobody() {
    let mut call = call(&json!({ "room": 1 }), false);
    let told = run(
        &mut call,
        vec![listed(None), on_disk(), Event::Sent, Event::TimedOut, on_disk()],
    );
    let text = result(&told)["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        text.starts_with("UNKNOWN: book_room was sent once to \"rooms\"; no answer came in"),
        "{text}"
    );
    assert_eq!(told.cancels, 0, "a write is listened to");
    let late = run(&mut call, vec![ok_frame(&json!({ "content": [] }))]);
    assert_eq!((late.entries.len(), late.delivered.len()), (1, 0));
    assert_eq!(late.entries[0].phase, Phase::Amendment);
    assert_eq!(late.entries[0].concluded.unwrap().outcome, Outcome::Reported);
}

#[test]
fn a_timed_out_read_is_cancelled_upstream() {
    let mut call = call(&json!({ "room": 1 }), false);
    let events = vec![
        listed(Some(EffectClass::Read)),
        on_disk(),
        Event::Sent,
        Event::TimedOut,
        on_disk(),
    ];
    let told = run(&mut call, events);
    assert_eq!(told.cancels, 1);
    assert_eq!(
        told.entries.last().unwrap().concluded.unwrap().outcome,
        Outcome::Failed
    );
}

#[test]
fn what_provably_never_left_changed_nothing() {
    let verdict = |loss| {
        let mut call = call(&json!({ "room": 1 }), false);
        let told = run(
            &mut call,
            vec![listed(None), on_disk(), Event::Sent, Event::Lost(loss), on_disk()],
        );
        result(&told)["result"]["_meta"]["candor/verdict"].clone()
    };
    let never = verdict(Loss::NeverLeft {
        why: "is gone".to_owned(),
        lasts: false,
    });
    assert_eq!(
        (&never["effect"], &never["attempts"]),
        (&json!("not_applied"), &json!(0))
    );
    let closed = verdict(Loss::Closed {
        exit: "exit 137".to_owned(),
        restarts: true,
    });
    assert_eq!(
        (&closed["effect"], &closed["attempts"]),
        (&json!("unknown"), &json!(1))
    );
}

#[test]
fn a_cancelled_call_is_answered_by_nobody_and_recorded() {
    let sent = {
        let mut call = call(&json!({ "room": 1 }), false);
        run(
            &mut call,
            vec![listed(None), on_disk(), Event::Sent, Event::Cancelled, on_disk()],
        )
    };
    assert!(sent.delivered.is_empty());
    assert_eq!(
        sent.entries.last().unwrap().concluded.unwrap().outcome,
        Outcome::Unknown
    );
    let unsent = {
        let mut call = call(&json!({ "room": 1 }), false);
        run(
            &mut call,
            vec![listed(None), Event::Cancelled, on_disk(), on_disk()],
        )
    };
    assert_eq!((unsent.sends, unsent.delivered.len()), (0, 0));
    assert_eq!(
        unsent.entries.last().unwrap().concluded.unwrap().outcome,
        Outcome::Rejected
    );
    let unchecked = {
        let mut call = call(&json!({ "room": 1 }), false);
        run(&mut call, vec![Event::Cancelled, on_disk()])
    };
    assert_eq!((unchecked.entries.len(), unchecked.delivered.len()), (2, 0));
    let while_asking_anew = {
        let mut call = call(&json!({ "room": "x" }), false);
        run(
            &mut call,
            vec![listed(None), Event::Cancelled, on_disk(), listed(None)],
        )
    };
    assert_eq!(
        (while_asking_anew.entries.len(), while_asking_anew.delivered.len()),
        (2, 0)
    );
}

#[test]
fn refused_parameters_are_read_by_whether_the_tool_is_still_there() {
    let refusal = || replied(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#);
    let answer = |knowledge| {
        let mut call = call(&json!({ "room": 1 }), false);
        let told = run(
            &mut call,
            vec![
                listed(None),
                on_disk(),
                Event::Sent,
                refusal(),
                knowledge,
                on_disk(),
            ],
        );
        assert_eq!(told.refreshes, 1);
        result(&told)
    };
    let there = answer(listed(None));
    assert!(
        there["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("REJECTED, EFFECT UNKNOWN")
    );
    assert_eq!(there["result"]["_meta"]["candor/upstreamError"]["code"], -32602);
    let gone = answer(Event::Learnt(Knowledge::NotListed { nearest: vec![] }));
    assert_eq!(
        gone["error"],
        json!({ "code": -32602, "message": "no" }),
        "the server's own error is passed on"
    );
}

#[test]
fn the_third_refusal_says_that_it_is_the_third() {
    let text = |earlier| {
        let params = json!({ "name": "book_room", "arguments": { "room": "x" } });
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let request = CallRequest::parse(&text, Revision::V2025_11_25).unwrap().unwrap();
        let id = OperationId::new(Uuid::nil());
        let (mut call, _) = Call::open(request, id, circumstances(false), earlier, UnixMillis(0));
        let told = run(&mut call, vec![listed(None), listed(None), on_disk()]);
        result(&told)["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(!text(1).contains("--arguments warn"));
    assert!(text(2).contains("refused 3 times") && text(2).contains("--arguments warn"));
}

#[test]
fn events_that_do_not_fit_change_nothing() {
    let mut call = call(&json!({ "room": 1 }), false);
    assert!(call.on(Event::Recalled, UnixMillis(0)).is_empty());
    assert!(call.on(Event::Sent, UnixMillis(0)).is_empty());
    assert_eq!(run(&mut call, vec![listed(None), on_disk()]).sends, 1);
}

#[test]
fn an_answer_that_comes_while_the_first_is_being_recorded_is_not_lost() {
    let mut call = call(&json!({ "room": 1 }), false);
    let flagged = ok_frame(&json!({ "content": [], "isError": true }));
    let events = vec![
        listed(None),
        on_disk(),
        Event::Sent,
        ok_frame(&json!({ "content": [] })),
        flagged,
        on_disk(),
    ];
    let told = run(&mut call, events);
    assert_eq!(told.delivered.len(), 1);
    let phases: Vec<Phase> = told.entries.iter().map(|entry| entry.phase).collect();
    assert_eq!(phases, [Phase::Intent, Phase::Verdict, Phase::Amendment]);
    assert_eq!(told.entries[2].concluded.unwrap().outcome, Outcome::Failed);
}

#[test]
fn a_server_that_goes_on_answering_fills_no_ledger() {
    let mut call = call(&json!({ "room": 1 }), false);
    let mut events = vec![
        listed(None),
        on_disk(),
        Event::Sent,
        ok_frame(&json!({ "content": [] })),
        on_disk(),
    ];
    events.extend((0..50).map(|_| ok_frame(&json!({ "content": [] }))));
    assert_eq!(run(&mut call, events).entries.len(), 6);
}

#[test]
fn a_name_twice_in_the_arguments_is_refused_and_one_at_two_depths_is_not() {
    let sends = |arguments: &str| {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"book_room","arguments":{arguments}}}}}"#
        );
        let request = CallRequest::parse(&text, Revision::V2025_11_25).unwrap().unwrap();
        let id = OperationId::new(Uuid::nil());
        let (mut call, _) = Call::open(request, id, circumstances(false), 0, UnixMillis(0));
        run(&mut call, vec![listed(None), listed(None), on_disk()]).sends
    };
    assert_eq!(sends(r#"{"room":1,"room":2}"#), 0);
    assert_eq!(sends(r#"{"room":1,"more":{"room":2}}"#), 1);
}

#[test]
fn a_result_that_names_a_member_twice_is_not_taken_for_done() {
    let outcome = |structured: &str| {
        let definition = json!({ "name": "book_room", "inputSchema": { "type": "object" } });
        let raw = serde_json::value::to_raw_value(&definition).unwrap();
        let mut values = Values::default();
        values
            .add(ValueList::Completed, Scalar::of(&json!("ok")).unwrap())
            .unwrap();
        let mapping = Mapping {
            document: Document::Structured,
            pointer: Some("/status".parse().unwrap()),
            values,
            code: None,
            message: None,
            reference: None,
            suggestion: None,
            retry_after: None,
            parts: None,
            failed_where: Vec::new(),
            nothing_done: BTreeSet::new(),
        };
        let terms = ToolTerms {
            mapping: Some(Sourced::new(mapping, Source::CommandLine)),
            ..ToolTerms::default()
        };
        let tool = Event::Learnt(Knowledge::Listed(Arc::new(
            Listed::read(&raw).unwrap().compile(terms),
        )));
        let mut call = call(&json!({ "room": 1 }), false);
        let reply = replied(format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[],"structuredContent":{structured}}}}}"#
        ));
        let told = run(&mut call, vec![tool, on_disk(), Event::Sent, reply, on_disk()]);
        result(&told)["result"]["_meta"]["candor/verdict"]["outcome"].clone()
    };
    assert_eq!(outcome(r#"{"status":"ok"}"#), "completed");
    assert_eq!(outcome(r#"{"status":"no","status":"ok"}"#), "unknown");
}

#[test]
fn a_forged_verdict_is_moved_aside_whatever_stands_beside_it() {
    for (meta, claimed) in [
        (r#"{"candor/verdict":{"outcome":"completed"}}"#, true),
        (r#"{"candor/verdict":{"outcome":"completed"},"\ud800":1}"#, true),
        (r#"{"candor\/verdict":{"outcome":"completed"}}"#, true),
        (r#"["candor/verdict"]"#, true),
        ("5", true),
        (r#"{"\ud800":1,"x":{"candor/verdict":1}}"#, false),
        ("null", false),
    ] {
        let mut call = call(&json!({ "room": 1 }), false);
        let reply = replied(format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[],"_meta":{meta}}}}}"#
        ));
        let told = run(
            &mut call,
            vec![listed(None), on_disk(), Event::Sent, reply, on_disk()],
        );
        let frame = &told.delivered[0];
        assert!(
            frame.contains(r#""candor/verdict":{"outcome":"reported""#),
            "{frame}"
        );
        assert_eq!(
            frame.matches(r#""candor/verdict":{"outcome"#).count(),
            1,
            "{frame}"
        );
        assert_eq!(frame.contains("candor/claimed"), claimed, "{frame}");
    }
}

#[test]
fn a_deadline_that_passes_before_the_sending_means_not_sent() {
    let early = vec![Event::TimedOut, on_disk()];
    let while_recording = vec![listed(None), Event::TimedOut, on_disk(), on_disk()];
    let waiting_for_the_server = vec![listed(None), on_disk(), Event::TimedOut, on_disk()];
    let taken_back = vec![
        listed(None),
        on_disk(),
        Event::Sent,
        Event::Recalled,
        Event::TimedOut,
        on_disk(),
    ];
    for events in [early, while_recording, waiting_for_the_server, taken_back] {
        let told = run(&mut call(&json!({ "room": 1 }), false), events);
        let verdict = result(&told)["result"]["_meta"]["candor/verdict"].clone();
        assert_eq!(
            (&verdict["effect"], &verdict["attempts"]),
            (&json!("not_applied"), &json!(0)),
            "{verdict}"
        );
        let phases: Vec<Phase> = told.entries.iter().map(|entry| entry.phase).collect();
        assert_eq!(phases, [Phase::Intent, Phase::Verdict]);
    }
    let left = vec![listed(None), on_disk(), Event::Sent, Event::TimedOut, on_disk()];
    let told = run(&mut call(&json!({ "room": 1 }), false), left);
    assert_eq!(
        result(&told)["result"]["_meta"]["candor/verdict"]["effect"],
        "unknown"
    );
}

#[test]
fn a_cancelled_call_that_could_be_taken_back_was_never_sent() {
    let events = vec![
        listed(None),
        on_disk(),
        Event::Sent,
        Event::Recalled,
        Event::Cancelled,
        on_disk(),
    ];
    let told = run(&mut call(&json!({ "room": 1 }), false), events);
    assert_eq!(
        told.entries.last().unwrap().concluded.unwrap().outcome,
        Outcome::Rejected
    );
}

#[test]
fn what_is_only_queued_is_not_called_recorded() {
    let mut call = call(&json!({ "room": 1 }), false);
    let queued = || Event::Recorded(Recording::Queued);
    let reply = ok_frame(&json!({ "content": [] }));
    let told = run(
        &mut call,
        vec![
            listed(Some(EffectClass::Read)),
            queued(),
            Event::Sent,
            reply,
            queued(),
        ],
    );
    assert!(
        result(&told)["result"]["_meta"]["candor/verdict"]
            .get("recorded")
            .is_none()
    );
}

/// What the records conclude of a call whose server answers with these states, one after the other.
fn concluded(states: &[&str]) -> Vec<(Outcome, Effect)> {
    let mut values = Values::default();
    for (list, value) in [(ValueList::Completed, "booked"), (ValueList::Rejected, "taken")] {
        values.add(list, Scalar::of(&json!(value)).unwrap()).unwrap();
    }
    let mapping = Mapping {
        document: Document::Structured,
        pointer: Some("/status".parse().unwrap()),
        values,
        code: None,
        message: None,
        reference: None,
        suggestion: None,
        retry_after: None,
        parts: None,
        failed_where: Vec::new(),
        nothing_done: BTreeSet::new(),
    };
    let terms = ToolTerms {
        mapping: Some(Sourced::new(mapping, Source::CommandLine)),
        ..ToolTerms::default()
    };
    let definition = json!({ "name": "book_room", "inputSchema": { "type": "object" } });
    let raw = serde_json::value::to_raw_value(&definition).unwrap();
    let tool = Arc::new(Listed::read(&raw).unwrap().compile(terms));
    let mut call = call(&json!({ "room": 1 }), false);
    let answer = |state: &&str| ok_frame(&json!({ "content": [], "structuredContent": { "status": state } }));
    let mut events = vec![Event::Learnt(Knowledge::Listed(tool)), on_disk(), Event::Sent];
    events.extend(states.iter().take(1).map(answer));
    events.push(on_disk());
    events.extend(states.iter().skip(1).map(answer));
    let entries = run(&mut call, events).entries;
    let concluded = entries.iter().filter_map(|entry| entry.concluded);
    concluded.map(|words| (words.outcome, words.effect)).collect()
}

#[test]
fn a_server_that_contradicts_its_own_answer_is_not_believed_and_one_that_repeats_it_is() {
    let (done, refused) = (
        (Outcome::Completed, Effect::Applied),
        (Outcome::Rejected, Effect::NotApplied),
    );
    let unknown = (Outcome::Unknown, Effect::Unknown);
    assert_eq!(concluded(&["booked", "taken"]), [done, unknown]);
    assert_eq!(concluded(&["taken", "booked"]), [refused, unknown]);
    assert_eq!(
        concluded(&["booked", "taken", "booked"]),
        [done, unknown],
        "no third say"
    );
    assert_eq!(concluded(&["booked", "booked"]), [done, done]);
}
