//! A caller that is kept for the end of accepted work: whatever happens meanwhile, it is told once, and never more than is known.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Run, call, not_recorded, on_disk, replied, result, run};
use crate::call::machine::{Event, Loss};
use crate::contract::effect::{EffectClass, Source, Sourced};
use crate::contract::mapping::scalar::Scalar;
use crate::contract::mapping::{Document, Mapping, ReferenceClause, StateTool, ValueList, Values};
use crate::contract::terms::ToolTerms;
use crate::contract::tool::{Knowledge, Listed};

fn learnt(wait: Option<Duration>) -> Event {
    let definition = json!({ "name": "book_room", "inputSchema": { "type": "object" } });
    let raw = serde_json::value::to_raw_value(&definition).unwrap();
    let mut values = Values::default();
    values
        .add(ValueList::Accepted, Scalar::of(&json!("queued")).unwrap())
        .unwrap();
    let state = StateTool {
        tool: "get_job".to_owned(),
        argument: "id".to_owned(),
        wait,
    };
    let mapping = Mapping {
        document: Document::Structured,
        pointer: Some("/status".parse().unwrap()),
        values,
        code: None,
        message: None,
        reference: Some(ReferenceClause {
            pointer: "/job".parse().unwrap(),
            noun: None,
            state: Some(state),
        }),
        suggestion: None,
        retry_after: None,
        parts: None,
        failed_where: Vec::new(),
        nothing_done: BTreeSet::new(),
    };
    let terms = ToolTerms {
        class: Some(Sourced::new(EffectClass::Write, Source::CommandLine)),
        mapping: Some(Sourced::new(mapping, Source::CommandLine)),
        ..ToolTerms::default()
    };
    Event::Learnt(Knowledge::Listed(Arc::new(
        Listed::read(&raw).unwrap().compile(terms),
    )))
}

/// Plays an accepted call, whose verdict is recorded like this, and what happens then.
fn play(wait: Option<Duration>, recorded: Event, then: Vec<Event>) -> Run {
    let queued = replied(
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{"status":"queued","job":"j-1"}}}"#,
    );
    let mut events = vec![learnt(wait), on_disk(), Event::Sent, queued, recorded];
    events.extend(then);
    run(&mut call(&json!({ "room": 12 }), false), events)
}

fn outcome(run: &Run) -> Value {
    result(run)["result"]["_meta"]["candor/verdict"]["outcome"].clone()
}

#[test]
fn a_caller_is_kept_only_where_the_contract_says_so_and_the_acceptance_is_on_disk() {
    let wait = Some(Duration::from_secs(5));
    let kept = play(wait, on_disk(), Vec::new());
    assert_eq!(
        (kept.holds.as_slice(), kept.delivered.len()),
        ([Duration::from_secs(5)].as_slice(), 0)
    );
    for run in [
        play(None, on_disk(), Vec::new()),
        play(wait, not_recorded(), Vec::new()),
    ] {
        assert_eq!((run.holds.len(), run.delivered.len()), (0, 1));
    }
}

#[test]
fn whatever_ends_the_wait_it_is_told_once_that_the_work_was_taken_on() {
    let closed = || {
        Event::Lost(Loss::Closed {
            exit: "exit 9".to_owned(),
            restarts: true,
        })
    };
    for end in [Event::Waited, Event::TimedOut, Event::Cancelled, closed()] {
        let told = play(
            Some(Duration::from_secs(5)),
            on_disk(),
            vec![end, Event::Waited, closed()],
        );
        assert_eq!(told.delivered.len(), 1);
        assert_eq!(outcome(&told), "accepted");
    }
}
