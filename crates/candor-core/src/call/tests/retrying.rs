//! Sending again: only by a contract, each send on disk before it leaves, and no try speaks for another.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Run, call, on_disk, replied, result, run};
use crate::call::machine::{Event, Loss};
use crate::contract::effect::{EffectClass, Source, Sourced};
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
