//! Sending again: only by a contract, each send on disk before it leaves, and no try speaks for another.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Run, call, on_disk, replied, result, run};
use crate::call::machine::{Event, Loss};
use crate::contract::effect::{EffectClass, Source, Sourced};
use crate::contract::mapping::scalar::Scalar;
use crate::contract::mapping::{Document, Mapping, ValueList, Values};
use crate::contract::recovery::Retry;
use crate::contract::terms::{Refusal, ToolTerms};
use crate::contract::tool::{Knowledge, Listed};
use crate::record::Phase;

fn learnt(class: EffectClass, retry: bool) -> Event {
    let definition = json!({ "name": "book_room", "inputSchema": { "type": "object" } });
    let raw = serde_json::value::to_raw_value(&definition).unwrap();
    let clause = Retry {
        attempts: 3,
        within: Duration::from_secs(60),
        wait: Duration::from_millis(500),
    };
    let terms = ToolTerms {
        class: Some(Sourced::new(class, Source::CommandLine)),
        retry: retry.then(|| Sourced::new(clause, Source::CommandLine)),
        nothing_done_on: [(Refusal::JsonRpc(-32_000), Source::CommandLine)].into(),
        ..ToolTerms::default()
    };
    Event::Learnt(Knowledge::Listed(Arc::new(
        Listed::read(&raw).unwrap().compile(terms),
    )))
}

fn play(class: EffectClass, retry: bool, events: Vec<Event>) -> Run {
    let mut call = call(&json!({ "room": 12 }), false);
    let mut all = vec![learnt(class, retry), on_disk(), Event::Sent];
    all.extend(events);
    run(&mut call, all)
}

fn closed() -> Event {
    Event::Lost(Loss::Closed {
        exit: "exit 9".to_owned(),
        restarts: true,
    })
}

fn gone() -> Event {
    Event::Lost(Loss::NeverLeft {
        why: "is gone".to_owned(),
        lasts: true,
    })
}

fn booked() -> Event {
    replied(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"booked"}]}}"#)
}

fn busy(data: &str) -> Event {
    replied(format!(
        r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":-32000,"message":"busy","data":{data}}}}}"#
    ))
}

/// As [`learnt`], of a tool whose contract reads a field of its results.
fn reads_results(class: EffectClass, retry: bool) -> Event {
    let Event::Learnt(Knowledge::Listed(tool)) = learnt(class, retry) else {
        panic!("it is listed")
    };
    let mut values = Values::default();
    for (list, value) in [(ValueList::Completed, "booked"), (ValueList::Rejected, "busy")] {
        values.add(list, Scalar::of(&json!(value)).unwrap()).unwrap();
    }
    values
        .add(ValueList::Failed, Scalar::of(&json!("broken")).unwrap())
        .unwrap();
    let mapping = Mapping {
        document: Document::Structured,
        pointer: Some("/status".parse().unwrap()),
        values,
        code: None,
        message: None,
        reference: None,
        suggestion: None,
        retry_after: Some("/retry_after".parse().unwrap()),
        parts: None,
        failed_where: Vec::new(),
        nothing_done: BTreeSet::new(),
    };
    let mut tool = Arc::into_inner(tool).unwrap();
    tool.terms.mapping = Some(Sourced::new(mapping, Source::CommandLine));
    Event::Learnt(Knowledge::Listed(Arc::new(tool)))
}

fn says(status: &str, wait: u64) -> Event {
    let structured = json!({ "status": status, "retry_after": wait });
    replied(format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[],"structuredContent":{structured}}}}}"#
    ))
}

fn verdict(run: &Run) -> Value {
    result(run)["result"]["_meta"]["candor/verdict"].clone()
}

#[test]
fn an_idempotent_call_is_sent_again_and_only_by_a_contract() {
    let again = || {
        vec![
            closed(),
            Event::Waited,
            on_disk(),
            Event::Sent,
            booked(),
            on_disk(),
        ]
    };
    let run = play(EffectClass::Idempotent, true, again());
    assert_eq!(
        (run.sends, run.retries.as_slice()),
        (2, [Duration::from_millis(500)].as_slice())
    );
    let told = verdict(&run);
    assert_eq!(
        (&told["outcome"], &told["attempts"]),
        (&json!("reported"), &json!(2))
    );
    for (class, retry) in [(EffectClass::Idempotent, false), (EffectClass::Write, true)] {
        let run = play(class, retry, again());
        assert_eq!((run.sends, run.retries.len()), (1, 0), "{class}, {retry}");
    }
}

#[test]
fn a_further_send_is_on_disk_before_it_leaves() {
    let run = play(EffectClass::Idempotent, true, vec![closed(), Event::Waited]);
    assert_eq!(run.sends, 1, "it waits for the disk");
    assert_eq!(run.waits, [true, true]);
    let second = run.entries.last().unwrap();
    assert_eq!(second.phase, Phase::Intent, "a crash now leaves an open intent");
    let body: Value = serde_json::from_str(&second.body).unwrap();
    assert_eq!(
        (&body["attempt"], &body["arguments"]),
        (&json!(2), &json!({ "room": 12 }))
    );
    let first: Value = serde_json::from_str(&run.entries[0].body).unwrap();
    assert_eq!(first.get("attempt"), None);
}

#[test]
fn waits_double_and_end_with_the_contracts_attempts() {
    let once = || [closed(), Event::Waited, on_disk(), Event::Sent];
    let mut events: Vec<Event> = once().into_iter().chain(once()).collect();
    events.extend([closed(), on_disk()]);
    let run = play(EffectClass::Idempotent, true, events);
    assert_eq!(
        run.retries,
        [Duration::from_millis(500), Duration::from_millis(1_000)]
    );
    let told = verdict(&run);
    assert_eq!(
        (&told["effect"], &told["attempts"]),
        (&json!("unknown"), &json!(3))
    );
}

#[test]
fn a_try_that_never_left_does_not_speak_for_one_that_did() {
    let events = vec![closed(), Event::Waited, on_disk(), Event::Sent, gone(), on_disk()];
    let run = play(EffectClass::Idempotent, true, events);
    let told = verdict(&run);
    assert_eq!(
        (&told["effect"], &told["protocol"], &told["attempts"]),
        (&json!("unknown"), &json!("no_response"), &json!(1)),
        "the first may have been done"
    );
    let again = || [Event::Waited, on_disk(), Event::Sent, busy("null")];
    let mut events = vec![closed()];
    events.extend(again().into_iter().chain(again()));
    events.push(on_disk());
    let told = verdict(&play(EffectClass::Idempotent, true, events));
    assert_eq!(told["effect"], "unknown", "nor does one that was refused");
}

#[test]
fn the_wait_that_a_server_asks_for_is_kept_or_handed_on() {
    let after = |seconds: u64| busy(&json!({ "retryAfter": seconds }).to_string());
    let run = play(EffectClass::Write, true, vec![after(7), Event::Waited]);
    assert_eq!(run.retries, [Duration::from_secs(7)]);
    let run = play(EffectClass::Write, true, vec![after(300), on_disk()]);
    assert!(run.retries.is_empty());
    let told = verdict(&run);
    assert_eq!(
        (&told["effect"], &told["error"]["retryAfter"]),
        (&json!("not_applied"), &json!(300))
    );
    // No room for it before the deadline: handed on too.
    let run = play(
        EffectClass::Write,
        true,
        vec![after(7), Event::TimedOut, on_disk()],
    );
    assert_eq!(verdict(&run)["error"]["retryAfter"], 7);
    let text = &result(&run)["result"]["content"][0]["text"];
    assert!(
        text.as_str().unwrap().contains("The server asks to wait 7 s"),
        "{text}"
    );
}

#[test]
fn the_wait_that_a_result_asks_for_is_kept_or_handed_on_too() {
    let play = |retry, events: Vec<Event>| {
        let mut call = call(&json!({ "room": 12 }), false);
        let mut all = vec![reads_results(EffectClass::Write, retry), on_disk(), Event::Sent];
        all.extend(events);
        run(&mut call, all)
    };
    let again = vec![
        says("busy", 7),
        Event::Waited,
        on_disk(),
        Event::Sent,
        says("booked", 7),
        on_disk(),
    ];
    let run = play(true, again);
    assert_eq!(
        (run.sends, run.retries.as_slice()),
        (2, &[Duration::from_secs(7)][..])
    );
    let told = verdict(&run);
    assert_eq!(
        (&told["outcome"], &told["attempts"], told.get("error")),
        (&json!("completed"), &json!(2), None)
    );
    for (retry, status, wait, effect) in [
        (false, "busy", 7, "not_applied"),
        (true, "busy", 300, "not_applied"),
        // It may have been done: no wait makes a repeat of a write harmless.
        (true, "broken", 7, "unknown"),
    ] {
        let run = play(retry, vec![says(status, wait), on_disk()]);
        assert_eq!((run.sends, run.retries.len()), (1, 0), "{status}");
        let told = verdict(&run);
        assert_eq!(
            (&told["effect"], &told["error"]["retryAfter"]),
            (&json!(effect), &json!(wait)),
            "{status}"
        );
        let text = result(&run)["result"]["content"][0]["text"].clone();
        let sentence = format!("The server asks to wait {wait} s before a repeat.");
        assert!(text.as_str().unwrap().contains(&sentence), "{text}");
    }
}

#[test]
fn a_caller_that_cancels_while_candor_waits_is_told_nothing_and_nothing_more_is_sent() {
    let events = vec![closed(), Event::Cancelled, on_disk(), Event::Waited];
    let run = play(EffectClass::Idempotent, true, events);
    assert_eq!((run.sends, run.delivered.len()), (1, 0));
    assert_eq!(run.entries.last().unwrap().phase, Phase::Verdict);
}

#[test]
fn a_server_that_is_left_alone_is_sent_nothing_and_the_caller_hears_for_how_long() {
    let resting = Event::Lost(Loss::Resting {
        seconds: 29,
        failures: 5,
    });
    let mut call = call(&json!({ "room": 12 }), false);
    let run = run(
        &mut call,
        vec![learnt(EffectClass::Write, false), on_disk(), resting, on_disk()],
    );
    let told = verdict(&run);
    assert_eq!(
        (&told["effect"], &told["evidence"], &told["attempts"]),
        (&json!("not_applied"), &json!("not_sent"), &json!(0))
    );
    assert_eq!(
        (&told["error"]["code"], &told["error"]["retryAfter"]),
        (&json!("CANDOR_SERVER_RESTING"), &json!(29))
    );
    assert_eq!(
        result(&run)["result"]["content"][0]["text"],
        "NOT DONE: book_room was not sent: server \"rooms\" failed 5 times in a row and is left alone for 29 s more. \
         Nothing changed.\nA repeat is harmless and may succeed. After 29 s one call tries it again."
    );
}
