//! Calls that a person must agree to.

use super::keys::{ended, first, keyed, taken};
use super::*;
use crate::asking::confirmation::{Answer, Obstacle};
use crate::call::keyed::Stands;
use crate::contract::recovery::Confirm;
use crate::judgment::verdict::Evidence;

/// A tool that asks first.
fn asks(class: Option<EffectClass>) -> Event {
    let definition = json!({
        "name": "book_room",
        "inputSchema": { "type": "object", "properties": { "room": { "type": "integer" } } },
    });
    let raw = serde_json::value::to_raw_value(&definition).unwrap();
    let confirm = Confirm { message: None };
    let terms = ToolTerms {
        class: class.map(|class| Sourced::new(class, Source::CommandLine)),
        confirm: Some(Sourced::new(confirm, Source::CommandLine)),
        ..ToolTerms::default()
    };
    Event::Learnt(Knowledge::Listed(Arc::new(
        Listed::read(&raw).unwrap().compile(terms),
    )))
}

fn confirmation(entry: &Entry) -> Value {
    let body: Value = serde_json::from_str(&entry.body).unwrap();
    body["disclosed"]["confirmation"].clone()
}

#[test]
fn nothing_is_recorded_or_sent_before_the_user_agrees_and_then_both_are() {
    let mut call = call(&json!({ "room": "12" }), false);
    let asking = run(&mut call, vec![asks(None), Event::TimedOut]);
    assert_eq!(
        (
            asking.questions,
            asking.entries.len(),
            asking.sends,
            asking.delivered.len()
        ),
        (1, 0, 0, 0),
        "while a person thinks, the deadline does not count"
    );
    let question = call.question().unwrap().message().to_owned();
    assert!(
        question.contains("{\"room\":12}"),
        "what is coerced is shown as it would be sent: {question}"
    );
    let agreed = run(&mut call, vec![Event::Answered(Answer::Accepted), on_disk()]);
    assert_eq!((agreed.entries.len(), agreed.sends), (1, 1));
    let told = confirmation(&agreed.entries[0]);
    assert_eq!(
        (&told["asked"], &told["end"]),
        (&json!(question), &json!("accept"))
    );
}

#[test]
fn each_of_the_other_ends_is_not_sent_and_told_apart() {
    let mut texts = Vec::new();
    for (answer, end) in [
        (Answer::Declined, "decline"),
        (Answer::Cancelled, "cancel"),
        (Answer::Expired, "expired"),
        (Answer::Blocked(Obstacle::NoForms), "blocked"),
        (Answer::Blocked(Obstacle::Misfit), "blocked"),
    ] {
        let mut call = call(&json!({ "room": 12 }), false);
        let told = run(&mut call, vec![asks(None), Event::Answered(answer), on_disk()]);
        assert_eq!(told.sends, 0);
        assert_eq!(told.entries.len(), 2, "intent and verdict are one record");
        assert_eq!(confirmation(&told.entries[0])["end"], end);
        let answer = result(&told);
        let verdict = &answer["result"]["_meta"]["candor/verdict"];
        assert_eq!(
            (&verdict["outcome"], &verdict["effect"], &verdict["protocol"]),
            (&json!("rejected"), &json!("not_applied"), &json!("not_sent"))
        );
        assert_eq!(verdict["error"]["code"], "CANDOR_NOT_CONFIRMED");
        assert_eq!(verdict["error"]["kind"], "permission_denied");
        assert_eq!(answer["result"]["isError"], true);
        texts.push(
            answer["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn a_cancelled_call_asks_no_more() {
    let mut call = call(&json!({ "room": 12 }), false);
    let told = run(
        &mut call,
        vec![
            asks(None),
            Event::Cancelled,
            Event::Answered(Answer::Accepted),
            on_disk(),
        ],
    );
    assert_eq!(
        (told.sends, told.delivered.len()),
        (0, 0),
        "who cancels is not answered"
    );
    assert_eq!(confirmation(&told.entries[0])["end"], "cancel");
}

#[test]
fn bad_arguments_are_refused_before_anybody_is_asked_and_tools_without_the_clause_ask_nobody() {
    let mut bad = call(&json!({ "room": "x" }), false);
    let told = run(&mut bad, vec![asks(None), asks(None), on_disk()]);
    assert_eq!((told.questions, told.delivered.len()), (0, 1));
    let mut plain = call(&json!({ "room": 12 }), false);
    let sent = run(&mut plain, vec![listed(None), on_disk()]);
    assert_eq!((sent.questions, sent.sends), (0, 1));
    assert_eq!(confirmation(&sent.entries[0]), Value::Null);
}

#[test]
fn nobody_is_asked_about_a_call_whose_key_was_used_before() {
    let done = || ended(Outcome::Completed, Effect::Applied, Evidence::ReadBack);
    let mut replay = keyed("\"k\"");
    let told = run(&mut replay, vec![asks(None), taken(first(done(), None))]);
    assert_eq!((told.key_looks, told.questions, told.sends), (1, 0, 0));
    assert_eq!(told.delivered.len(), 1);

    let mut conflict = keyed("\"k\"");
    let mut other = first(done(), None);
    other.same_arguments = false;
    let told = run(&mut conflict, vec![asks(None), taken(other), on_disk()]);
    assert_eq!((told.questions, told.sends), (0, 0));
    let code = result(&told)["result"]["_meta"]["candor/verdict"]["error"]["code"].clone();
    assert_eq!(code, "CANDOR_KEY_CONFLICT");

    let mut new = keyed("\"k\"");
    let asked = run(&mut new, vec![asks(None), Event::KeyFree]);
    assert_eq!((asked.questions, asked.entries.len()), (1, 0));
    let agreed = run(&mut new, vec![Event::Answered(Answer::Accepted)]);
    assert!(
        matches!(agreed.keys.as_slice(), [KeyUse::Claim(_)]),
        "{:?}",
        agreed.keys
    );
}

#[test]
fn who_waited_for_the_first_call_of_a_key_is_still_asked_before_anything_is_sent() {
    let mut call = keyed("\"k\"");
    let waited = run(
        &mut call,
        vec![asks(None), taken(first(Stands::Running, None)), Event::KeyDue],
    );
    assert_eq!(
        (waited.questions, waited.keys.len()),
        (0, 0),
        "it is looked up again"
    );
    let freed = run(&mut call, vec![Event::KeyFree]);
    assert_eq!((freed.questions, freed.keys.len(), freed.sends), (1, 0, 0));
    let agreed = run(&mut call, vec![Event::Answered(Answer::Accepted), on_disk()]);
    assert_eq!((agreed.keys.len(), agreed.sends), (1, 1));

    // Somebody else was quicker while the user thought: no second question afterwards either.
    let mut call = keyed("\"k\"");
    let told = run(
        &mut call,
        vec![
            asks(None),
            Event::KeyFree,
            Event::Answered(Answer::Accepted),
            taken(first(Stands::Running, None)),
            Event::KeyDue,
        ],
    );
    assert_eq!((told.questions, told.keys.len(), told.sends), (1, 2, 0));
}
