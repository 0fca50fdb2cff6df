//! Idempotency keys, rounds and news, by events.

use super::*;
use crate::call::keyed::{FirstUse, Stands};
use crate::call::rounds::{Round, RoundMark};
use crate::contract::recovery::KeyPlace;
use crate::delivery::news::News;
use crate::judgment::verdict::{Effect, Evidence, Protocol, Verdict};
use crate::names::ToolName;

const FIRST: u128 = 0xabcd_1234;

fn text_of_call(extra: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"host-2","method":"tools/call","params":{{"name":"book_room","arguments":{arguments}{extra}}}}}"#
    )
}

fn open(text: &str, has_ledger: bool) -> Call {
    let request = CallRequest::parse(text, Revision::V2025_11_25).unwrap().unwrap();
    let mut circumstances = (*circumstances(false)).clone();
    circumstances.has_ledger = has_ledger;
    let id = OperationId::new(Uuid::from_u128(2));
    Call::open(request, id, Arc::new(circumstances), 0, UnixMillis(1_000)).0
}

pub(super) fn keyed(key: &str) -> Call {
    let meta = format!(r#","_meta":{{"candor/idempotencyKey":{key}}}"#);
    open(&text_of_call(&meta, r#"{"room":12}"#), true)
}

fn verdict(outcome: Outcome, effect: Effect, evidence: Evidence) -> Verdict {
    Verdict {
        operation: OperationId::new(Uuid::from_u128(FIRST)),
        protocol: Protocol::Delivered,
        outcome,
        effect,
        evidence,
        error: None,
        reference: None,
        parts: Vec::new(),
        attempts: 1,
        suggested_next_step: None,
    }
}

pub(super) fn first(stands: Stands, answer: Option<&str>) -> FirstUse {
    FirstUse {
        operation: OperationId::new(Uuid::from_u128(FIRST)),
        same_arguments: true,
        stands,
        answer: answer.map(str::to_owned),
        recording: Recording::OnDisk(Receipt::asserted_by_ledger(2)),
    }
}

pub(super) fn taken(first: FirstUse) -> Event {
    Event::KeyTaken(Box::new(first))
}

pub(super) fn ended(outcome: Outcome, effect: Effect, evidence: Evidence) -> Stands {
    Stands::Ended {
        verdict: Box::new(verdict(outcome, effect, evidence)),
        amended: true,
    }
}

fn told_text(told: &Run) -> String {
    result(told)["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_key_is_claimed_with_the_intent_and_the_answer_kept_with_the_verdict() {
    let mut call = keyed("\"k\"");
    let before = run(&mut call, vec![listed(None)]);
    assert!(matches!(before.keys.as_slice(), [KeyUse::Claim(_)]));
    assert_eq!((before.entries[0].phase, before.sends), (Phase::Intent, 0));
    let body: Value = serde_json::from_str(&before.entries[0].body).unwrap();
    assert_eq!(body["idempotencyKeyDigest"], crate::record::bodies::digest("k"));
    assert_eq!(run(&mut call, vec![on_disk()]).sends, 1);
    let judged = run(&mut call, vec![Event::Sent, ok_frame(&json!({ "content": [] }))]);
    let [KeyUse::Keep(kept)] = judged.keys.as_slice() else {
        panic!("{:?}", judged.keys)
    };
    let told = run(&mut call, vec![on_disk()]);
    assert_eq!(*kept, told.delivered[0], "what is kept is what is told");
}

#[test]
fn a_key_under_which_nothing_was_sent_is_free_and_one_that_is_unknown_is_held() {
    let unsent = || Loss::NeverLeft {
        why: "is gone".to_owned(),
        lasts: false,
    };
    let mut call = keyed("\"k\"");
    let freed = run(&mut call, vec![listed(None), on_disk(), Event::Lost(unsent())]);
    assert_eq!(freed.keys[1..], [KeyUse::Free]);
    let mut call = keyed("\"k\"");
    let unknown = run(
        &mut call,
        vec![listed(None), on_disk(), Event::Sent, Event::TimedOut],
    );
    assert_eq!(unknown.keys[1..], [KeyUse::Hold]);
    let late = run(&mut call, vec![on_disk(), ok_frame(&json!({ "content": [] }))]);
    assert!(
        matches!(late.keys.as_slice(), [KeyUse::Keep(_)]),
        "{:?}",
        late.keys
    );
}

#[test]
fn a_call_without_a_key_claims_none() {
    let mut call = call(&json!({ "room": 12 }), false);
    let plain = run(
        &mut call,
        vec![listed(None), on_disk(), Event::Sent, Event::TimedOut],
    );
    assert!(plain.keys.is_empty());
}

#[test]
fn the_first_answer_is_told_again_under_the_new_id_and_nothing_is_sent() {
    let kept =
        r#"{"jsonrpc":"2.0", "id":1,"result":{ "x":1.10,"content":[],"_meta":{"candor/verdict":{}} }}"#;
    let stands = Stands::Ended {
        verdict: Box::new(verdict(Outcome::Reported, Effect::Unknown, Evidence::Asserted)),
        amended: false,
    };
    let mut call = keyed("\"k\"");
    let told = run(&mut call, vec![listed(None), taken(first(stands, Some(kept)))]);
    assert_eq!(told.sends, 0);
    let said = format!(
        ",\"candor/replayed\":{{\"operationId\":\"{}\"}}",
        Uuid::from_u128(FIRST)
    );
    let expected = kept.replace("\"id\":1", "\"id\":\"host-2\"").replace(
        "{\"candor/verdict\":{}",
        &format!("{{\"candor/verdict\":{{}}{said}"),
    );
    assert_eq!(told.delivered, [expected]);
    assert_eq!(
        told.entries.len(),
        1,
        "its own intent, which was not written; nothing else"
    );
}

#[test]
fn other_arguments_under_a_used_key_are_refused_and_recorded() {
    let other = FirstUse {
        same_arguments: false,
        ..first(Stands::Running, None)
    };
    let mut call = keyed("\"k\"");
    let told = run(&mut call, vec![listed(None), taken(other), on_disk()]);
    assert_eq!(told.sends, 0);
    assert!(
        told_text(&told).starts_with("NOT DONE: book_room was not sent"),
        "{}",
        told_text(&told)
    );
    assert_eq!(
        result(&told)["result"]["_meta"]["candor/verdict"]["error"]["code"],
        "CANDOR_KEY_CONFLICT"
    );
    let phases: Vec<Phase> = told.entries[1..].iter().map(|entry| entry.phase).collect();
    assert_eq!(phases, [Phase::Intent, Phase::Verdict]);
}

#[test]
fn a_first_that_runs_is_waited_for_and_at_the_deadline_told_as_unknown() {
    let running = || taken(first(Stands::Running, None));
    let mut call = keyed("\"k\"");
    let waits = run(&mut call, vec![listed(None), running(), Event::KeyDue, running()]);
    assert_eq!(
        (waits.key_looks, waits.keys.len(), waits.delivered.len()),
        (2, 2, 0)
    );
    let told = run(&mut call, vec![Event::TimedOut]);
    assert!(
        told_text(&told).starts_with("UNKNOWN: book_room was called before"),
        "{}",
        told_text(&told)
    );
    let verdict = &result(&told)["result"]["_meta"]["candor/verdict"];
    assert_eq!(verdict["operationId"], Uuid::from_u128(FIRST).to_string());
    assert_eq!(
        call.told_unknown(),
        Some(OperationId::new(Uuid::from_u128(FIRST)))
    );
    // The same, but the first is freed while the second waits: it is sent now, once.
    let mut call = keyed("\"k\"");
    let sent = run(&mut call, vec![listed(None), running(), Event::KeyDue, on_disk()]);
    assert_eq!(sent.sends, 1);
}

#[test]
fn a_first_that_nobody_knows_is_unknown_again_until_it_is_settled() {
    for stands in [
        Stands::Lost,
        Stands::Forgotten,
        ended(Outcome::Unknown, Effect::Unknown, Evidence::None),
    ] {
        let mut call = keyed("\"k\"");
        let told = run(&mut call, vec![listed(None), taken(first(stands, None))]);
        assert_eq!(told.sends, 0);
        assert!(told_text(&told).starts_with("UNKNOWN: "), "{}", told_text(&told));
        assert!(told_text(&told).contains("not sent again"));
    }
    for (stands, opening, flagged) in [
        (
            ended(Outcome::Completed, Effect::Applied, Evidence::Operator),
            "book_room was called before",
            false,
        ),
        (
            ended(Outcome::Failed, Effect::NotApplied, Evidence::Operator),
            "NOT DONE: ",
            true,
        ),
    ] {
        let mut call = keyed("\"k\"");
        let told = run(&mut call, vec![listed(None), taken(first(stands, None))]);
        let answer = result(&told);
        assert!(told_text(&told).starts_with(opening), "{}", told_text(&told));
        assert_eq!(answer["result"]["isError"], flagged);
        assert_eq!(
            answer["result"]["_meta"]["candor/verdict"]["evidence"],
            "operator"
        );
        assert_eq!(told.sends, 0);
    }
}

#[test]
fn a_bad_key_and_a_key_that_cannot_be_kept_are_refused() {
    for bad in ["7", "\"\"", "null"] {
        let mut call = keyed(bad);
        let told = run(&mut call, vec![listed(None), listed(None), on_disk()]);
        assert_eq!(told.sends, 0);
        assert!(
            told_text(&told).contains("a string of 1 to 255 bytes"),
            "{}",
            told_text(&told)
        );
    }
    let text = text_of_call(r#","_meta":{"candor/idempotencyKey":"k"}"#, r#"{"room":12}"#);
    let mut without = open(&text, false);
    let told = run(
        &mut without,
        vec![listed(None), listed(None), Event::Recorded(Recording::Off)],
    );
    assert_eq!(told.sends, 0);
    assert!(told_text(&told).starts_with("NOT DONE: "), "{}", told_text(&told));
    // A ledger that fails just now, for a tool that nobody classified and even for a read.
    for class in [None, Some(EffectClass::Read)] {
        let mut call = keyed("\"k\"");
        let told = run(&mut call, vec![listed(class), not_recorded(), not_recorded()]);
        assert_eq!(told.sends, 0);
        assert!(told_text(&told).starts_with("NOT DONE: "), "{}", told_text(&told));
    }
}

#[test]
fn a_key_is_passed_on_where_the_server_takes_it_and_never_over_the_callers_own() {
    let sent = |place: KeyPlace, extra: &str, arguments: &str| {
        let tool = tool_with(ToolTerms {
            key_place: Some(Sourced::new(place, Source::CommandLine)),
            ..ToolTerms::default()
        });
        let mut call = open(&text_of_call(extra, arguments), true);
        run(&mut call, vec![Event::Learnt(Knowledge::Listed(tool)), on_disk()]);
        let frame: Value = serde_json::from_str(&call.upstream("7")).unwrap();
        frame["params"].clone()
    };
    let meta = r#","_meta":{"candor/idempotencyKey":"k"}"#;
    let argument = || KeyPlace::Argument("requestId".to_owned());
    let params = sent(argument(), meta, r#"{"room":12}"#);
    assert_eq!(params["arguments"], json!({ "room": 12, "requestId": "k" }));
    assert_eq!(params["_meta"]["candor/idempotencyKey"], "k");
    let own = sent(argument(), meta, r#"{"room":12,"requestId":"mine"}"#);
    assert_eq!(own["arguments"]["requestId"], "mine");
    let coerced = sent(argument(), meta, r#"{"room":"12"}"#);
    assert_eq!(coerced["arguments"], json!({ "room": 12, "requestId": "k" }));
    let params = sent(KeyPlace::Meta("x/key".to_owned()), meta, r#"{"room":12}"#);
    assert_eq!(
        params["_meta"],
        json!({ "candor/idempotencyKey": "k", "x/key": "k" })
    );
    let none = sent(argument(), "", r#"{"room":12}"#);
    assert_eq!(none, json!({ "name": "book_room", "arguments": { "room": 12 } }));
}

fn asks_again(state: &str) -> Event {
    ok_frame(&json!({ "resultType": "input_required", "requestState": state, "inputRequests": {} }))
}

fn modern(extra: &str) -> Call {
    let text = text_of_call(extra, r#"{"room":12}"#);
    let request = CallRequest::parse(&text, Revision::V2026_07_28).unwrap().unwrap();
    let id = OperationId::new(Uuid::from_u128(3));
    Call::open(request, id, circumstances(false), 0, UnixMillis(1_000)).0
}

#[test]
fn the_rounds_of_one_exchange_are_one_operation() {
    let mut call = modern("");
    run(
        &mut call,
        vec![listed(None), on_disk(), Event::Sent, asks_again("s1"), on_disk()],
    );
    let (mark, round) = call.leaves_round().unwrap();
    let named = r#","requestState":"s1","inputResponses":{}"#;
    let text = text_of_call(named, r#"{"room":12}"#);
    let second = CallRequest::parse(&text, Revision::V2026_07_28).unwrap().unwrap();
    assert_eq!(second.round, Some(mark));

    let mut call = modern(named);
    call.go_on_with(Some(round.clone()));
    let told = run(
        &mut call,
        vec![
            listed(None),
            on_disk(),
            Event::Sent,
            ok_frame(&json!({ "resultType": "complete", "content": [] })),
            on_disk(),
        ],
    );
    assert!(
        told.entries
            .iter()
            .all(|entry| entry.operation == round.operation)
    );
    assert_eq!(result(&told)["result"]["_meta"]["candor/verdict"]["attempts"], 2);
    assert_eq!(call.leaves_round(), None);
    // What was not sent in this round was sent in the one before.
    let mut call = modern(named);
    call.go_on_with(Some(round.clone()));
    let loss = Loss::NeverLeft {
        why: "is gone".to_owned(),
        lasts: false,
    };
    let told = run(
        &mut call,
        vec![listed(None), on_disk(), Event::Lost(loss), on_disk()],
    );
    assert!(
        told_text(&told).starts_with("FAILED, EFFECT UNKNOWN: "),
        "{}",
        told_text(&told)
    );
    // One that is refused before leaves the operation as it stands.
    let mut call = open(&text_of_call(named, r#"{"rom":1}"#), true);
    call.go_on_with(Some(round.clone()));
    let refused = run(&mut call, vec![listed(None), listed(None), on_disk()]);
    assert!(
        refused
            .entries
            .iter()
            .all(|entry| entry.operation != round.operation)
    );
}

#[test]
fn a_round_without_state_goes_by_tool_and_arguments() {
    let mark = |arguments: &str| {
        let text = text_of_call(r#","inputResponses":{}"#, arguments);
        CallRequest::parse(&text, Revision::V2026_07_28)
            .unwrap()
            .unwrap()
            .round
            .unwrap()
    };
    let left = RoundMark::of_result(
        r#"{"inputRequests":{}}"#,
        &ToolName::from("book_room"),
        Some(r#"{"room":12}"#),
    );
    assert_eq!(left, Some(mark(r#"{ "room": 12 }"#)));
    assert_ne!(left, Some(mark(r#"{"room":13}"#)));
}

#[test]
fn a_round_carries_the_key_of_the_first() {
    let mut call = modern("");
    call.go_on_with(Some(Round {
        operation: OperationId::new(Uuid::from_u128(FIRST)),
        attempts: 1,
        key: Some("k".to_owned()),
    }));
    let claimed = run(&mut call, vec![listed(None)]);
    assert!(matches!(claimed.keys.as_slice(), [KeyUse::Claim(_)]));
}

fn news() -> News {
    News {
        operation: OperationId::new(Uuid::from_u128(FIRST)),
        tool: ToolName::from("create_issue"),
        outcome: Outcome::Completed,
        effect: Effect::Applied,
        evidence: Evidence::Operator,
        in_meta: false,
    }
}

#[test]
fn news_stand_in_meta_of_any_result_and_in_a_text_of_candors() {
    let mut call = call(&json!({ "room": 12 }), false);
    run(&mut call, vec![listed(None), on_disk(), Event::Sent]);
    call.offer_news(vec![news()]);
    let told = run(&mut call, vec![ok_frame(&json!({ "content": [] })), on_disk()]);
    assert_eq!(call.told_news(), (false, true));
    let answer = result(&told);
    assert_eq!(answer["result"]["content"], json!([]), "untouched");
    assert_eq!(
        answer["result"]["_meta"]["candor/news"][0]["outcome"],
        "completed"
    );

    let mut call = super::call(&json!({ "room": 12 }), false);
    run(&mut call, vec![listed(None), on_disk(), Event::Sent]);
    call.offer_news(vec![News {
        in_meta: true,
        ..news()
    }]);
    let told = run(&mut call, vec![Event::TimedOut, on_disk()]);
    assert_eq!(call.told_news(), (true, true));
    let last = told_text(&told).lines().last().unwrap().to_owned();
    assert_eq!(
        last,
        "Earlier: create_issue (abcd1234), told UNKNOWN, was settled by a person: outcome completed, effect applied."
    );
    assert_eq!(
        result(&told)["result"]["_meta"].get("candor/news"),
        None,
        "told there before"
    );
    let text = told.entries[0].body.clone();
    assert!(
        text.contains("Earlier: create_issue"),
        "the record has the text as it was told"
    );
}

#[test]
fn without_news_nothing_is_said_of_any() {
    let mut call = call(&json!({ "room": 12 }), false);
    let told = run(
        &mut call,
        vec![listed(None), on_disk(), Event::Sent, Event::TimedOut, on_disk()],
    );
    assert!(!told.delivered[0].contains("Earlier") && !told.delivered[0].contains("candor/news"));
    assert_eq!(call.told_news(), (false, false));
}
