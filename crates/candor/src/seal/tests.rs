//! The four attacks, single use, and keys that are replaced.

use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn bound() -> Bound {
    Bound::to_call(
        "book",
        &Principal::new("alice"),
        &json!({ "room": 12, "day": "2026-12-01" }),
    )
}

fn state(value: &str) -> State<String> {
    State {
        id: Uuid::from_u128(7),
        expires: at(100).as_millisecond(),
        once: false,
        value: value.to_owned(),
    }
}

fn keys() -> Keys {
    Keys::from_bytes(3, &[7; 32])
}

fn refused(text: &str, bound: &Bound, now: Timestamp) -> Option<Refused> {
    keys().open::<String>(text, bound, now).err()
}

#[test]
fn a_state_opens_for_what_it_was_sealed_for() {
    let sealed = keys().seal(&state("step 2"), &bound()).expect("sealed");
    assert_eq!(
        keys().open(&sealed, &bound(), at(99)).expect("opened"),
        state("step 2")
    );
    assert!(!sealed.contains("step"), "the client can't read it");
    let reordered = Bound::to_call(
        "book",
        &Principal::new("alice"),
        &json!({ "day": "2026-12-01", "room": 12 }),
    );
    assert!(
        keys().open::<String>(&sealed, &reordered, at(99)).is_ok(),
        "the order of members is the client's"
    );
}

#[test]
fn changed_arguments_tool_or_method_are_refused() {
    let sealed = keys().seal(&state(""), &bound()).expect("sealed");
    let alice = Principal::new("alice");
    let same = json!({ "room": 12, "day": "2026-12-01" });
    for other in [
        Bound::to_call("book", &alice, &json!({ "room": 13, "day": "2026-12-01" })),
        Bound::to_call("book", &alice, &json!({ "room": 12 })),
        Bound::to_call("book", &alice, &json!({ "room": "12", "day": "2026-12-01" })),
        Bound::to_call("book", &alice, &json!({})),
        Bound::to_call("cancel", &alice, &same),
        Bound::new("prompts/get", "book", &alice.key(), &same),
    ] {
        assert_eq!(refused(&sealed, &other, at(99)), Some(Refused::Foreign));
    }
}

#[test]
fn another_principal_is_refused() {
    let sealed = keys().seal(&state(""), &bound()).expect("sealed");
    let same = json!({ "room": 12, "day": "2026-12-01" });
    for other in [
        Principal::new("bob"),
        Principal::local(),
        Principal::new("alice").of_tenant("acme"),
        Principal::new("").of_tenant("alice"),
    ] {
        assert_eq!(
            refused(&sealed, &Bound::to_call("book", &other, &same), at(99)),
            Some(Refused::Foreign)
        );
    }
    // Scopes may change between rounds: it is the same principal.
    let scoped = Principal::new("alice").with_scope("rooms:write");
    assert_eq!(
        refused(&sealed, &Bound::to_call("book", &scoped, &same), at(99)),
        None
    );
}

#[test]
fn an_expired_state_is_refused() {
    let sealed = keys().seal(&state(""), &bound()).expect("sealed");
    assert_eq!(refused(&sealed, &bound(), at(99)), None);
    assert_eq!(
        refused(&sealed, &bound(), at(100)),
        Some(Refused::Expired),
        "at its very end"
    );
    assert_eq!(refused(&sealed, &bound(), at(1_000_000)), Some(Refused::Expired));
}

#[test]
fn each_altered_character_is_refused() {
    let sealed = keys().seal(&state("step 2"), &bound()).expect("sealed");
    for place in 0..sealed.len() {
        for new in [b'A', b'B', b'_', b'.'] {
            let mut altered = sealed.clone().into_bytes();
            if altered[place] == new {
                continue;
            }
            altered[place] = new;
            let altered = String::from_utf8(altered).expect("ASCII");
            assert!(refused(&altered, &bound(), at(99)).is_some(), "place {place}");
        }
        assert!(
            refused(&sealed[..place], &bound(), at(99)).is_some(),
            "cut at {place}"
        );
    }
    assert!(refused(&format!("{sealed}A"), &bound(), at(99)).is_some());
    assert!(refused(&format!("{sealed}-TAMPERED"), &bound(), at(99)).is_some());
    assert_eq!(
        refused(&"c1.".repeat(LONGEST_STATE), &bound(), at(99)),
        Some(Refused::Malformed)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_altered_byte_is_refused(value in ".{0,60}", place in any::<usize>(), flip in 1_u8..) {
        let sealed = keys().seal(&state(&value), &bound()).expect("sealed");
        let mut bytes = URL_SAFE_NO_PAD.decode(&sealed[3..]).expect("base64");
        let place = place % bytes.len();
        bytes[place] ^= flip;
        let altered = format!("c1.{}", URL_SAFE_NO_PAD.encode(&bytes));
        let found = refused(&altered, &bound(), at(99));
        // The first byte is the key's id.
        prop_assert_eq!(found, Some(if place == 0 { Refused::UnknownKey } else { Refused::Foreign }));
    }

    #[test]
    fn what_opens_is_what_was_sealed(value in ".{0,200}", tool in ".{0,20}", who in ".{0,20}") {
        let bound = Bound::new("tools/call", &tool, &who, &json!({ "a": value.clone() }));
        let sealed = keys().seal(&state(&value), &bound).expect("sealed");
        let opened = keys().open::<String>(&sealed, &bound, at(0)).expect("opened");
        prop_assert_eq!(opened.value, value);
    }

    #[test]
    fn nothing_makes_it_panic(text in ".{0,200}") {
        prop_assert!(refused(&text, &bound(), at(0)).is_some());
        let prefixed = ["c1.", text.as_str()].concat();
        prop_assert!(refused(&prefixed, &bound(), at(0)).is_some());
    }

    #[test]
    fn parts_never_run_together(tool in "[a-c]{0,3}", who in "[a-c]{0,3}", other_tool in "[a-c]{0,3}", other_who in "[a-c]{0,3}") {
        let one = Bound::new("m", &tool, &who, &Value::Null);
        let other = Bound::new("m", &other_tool, &other_who, &Value::Null);
        prop_assert_eq!(one == other, tool == other_tool && who == other_who);
    }
}

#[test]
fn each_seal_is_fresh() {
    let one = keys().seal(&state("same"), &bound()).expect("sealed");
    let other = keys().seal(&state("same"), &bound()).expect("sealed");
    assert_ne!(one, other);
}

#[test]
fn an_older_key_opens_and_no_longer_seals() {
    let old = Keys::from_bytes(1, &[1; 32]);
    let new = Keys::from_bytes(2, &[2; 32])
        .and_older(1, &[1; 32])
        .expect("a free id");
    let sealed = old.seal(&state("old"), &bound()).expect("sealed");
    assert_eq!(
        new.open::<String>(&sealed, &bound(), at(0))
            .expect("opened")
            .value,
        "old"
    );
    let fresh = new.seal(&state("new"), &bound()).expect("sealed");
    assert_eq!(
        old.open::<String>(&fresh, &bound(), at(0)).err(),
        Some(Refused::UnknownKey)
    );
    assert_eq!(new.and_older(1, &[9; 32]).err(), Some(KeyIdTaken { id: 1 }));
}

#[test]
fn another_process_opens_nothing_of_a_generated_key() {
    let (one, other) = (
        Keys::generate().expect("random"),
        Keys::generate().expect("random"),
    );
    let sealed = one.seal(&state(""), &bound()).expect("sealed");
    assert!(one.open::<String>(&sealed, &bound(), at(0)).is_ok());
    assert_eq!(
        other.open::<String>(&sealed, &bound(), at(0)).err(),
        Some(Refused::Foreign)
    );
}

#[test]
fn keys_show_no_key() {
    let shown = format!("{:?}", Keys::from_bytes(3, &[211; 32]));
    assert!(shown.contains('3') && !shown.contains("211"), "{shown}");
}

#[test]
fn what_is_too_long_is_not_sealed() {
    let long = state(&"x".repeat(LONGEST_STATE));
    assert_eq!(keys().seal(&long, &bound()).err(), Some(Unsealed::TooLong));
    let just = state(&"x".repeat(LONGEST_STATE / 2 - 200));
    let sealed = keys().seal(&just, &bound()).expect("sealed");
    assert!(
        keys().open::<String>(&sealed, &bound(), at(0)).is_ok(),
        "whatever is sealed can be opened"
    );
}

#[tokio::test]
async fn a_used_state_is_known_as_used() {
    let spent = SpentInMemory::default();
    let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
    assert_eq!(spent.spend(one, at(100), at(0)).await, Ok(true));
    assert_eq!(spent.spend(one, at(100), at(1)).await, Ok(false));
    assert_eq!(spent.spend(other, at(100), at(1)).await, Ok(true));
}

#[test]
fn a_refusal_says_why_and_that_nothing_changed() {
    for (why, word) in [
        (Refused::Foreign, "principal"),
        (Refused::Expired, "expired"),
        (Refused::Spent, "one use"),
        (Refused::Malformed, "no state"),
        (Refused::UnknownKey, "restarted"),
    ] {
        let error = why.to_error();
        assert_eq!(error.code.0, -32602);
        assert!(
            error.message.contains(word) && error.message.contains("nothing changed"),
            "{}",
            error.message
        );
        assert_eq!(error.data, Some(json!({ "requestState": why.name() })));
    }
}
