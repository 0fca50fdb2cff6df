//! The keys for what is done after a verdict.

use candor_core::contract::recovery::{Breaker, Confirm, KeyPlace, Retry};
use candor_core::contract::terms::ToolTerms;

use super::*;

const ROOMS: &str = r#"
[servers.rooms]
breaker = { failures = 2, pause = "10s" }
confirm = true
retry = {}

[servers.rooms.tools.book_room]
effect = "write"
confirm = "Book this room?"
idempotency_key = { meta = "example.com/key" }
retry = { attempts = 4, within = "9s", wait = "0s" }
breaker = {}

[servers.rooms.tools.book_room.read_back]
tool = "list_bookings"
arguments = { room = "args.room", day = "today" }
applied = "answer.bookings.exists(b, b.room == args.room)"
window = "2s"

[servers.rooms.tools.list_bookings]
effect = "read"
confirm = false
"#;

fn terms(source: &str, tool: &str) -> ToolTerms {
    let config = parse(source).unwrap_or_else(|faults| panic!("{}", shown(source, &faults)));
    config.for_tool("rooms", tool, &CommandLine::default())
}

fn line_of<T>(clause: Option<&candor_core::contract::effect::Sourced<T>>) -> Option<String> {
    clause.map(|clause| clause.source.to_string())
}

#[test]
fn a_tools_clauses_stand_over_its_servers() {
    let of_tool = terms(ROOMS, "book_room");
    assert_eq!(
        of_tool.confirm.as_ref().map(|asked| asked.value.clone()),
        Some(Confirm {
            message: Some("Book this room?".to_owned())
        })
    );
    assert_eq!(
        of_tool.key_place.as_ref().map(|place| place.value.clone()),
        Some(KeyPlace::Meta("example.com/key".to_owned()))
    );
    let retry = Retry {
        attempts: 4,
        within: Duration::from_secs(9),
        wait: Duration::ZERO,
    };
    assert_eq!(
        of_tool.retry.as_ref().map(|retry| retry.value.clone()),
        Some(retry)
    );
    let usual = Breaker {
        failures: 5,
        pause: Duration::from_secs(30),
    };
    assert_eq!(
        of_tool.breaker.as_ref().map(|breaker| breaker.value.clone()),
        Some(usual)
    );
    assert_eq!(line_of(of_tool.retry.as_ref()).as_deref(), Some("candor.toml:11"));

    let of_server = terms(ROOMS, "cancel_booking");
    assert_eq!(
        of_server.confirm.as_ref().map(|asked| asked.value.clone()),
        Some(Confirm { message: None })
    );
    let usual = Retry {
        attempts: 3,
        within: Duration::from_secs(20),
        wait: Duration::from_millis(500),
    };
    assert_eq!(
        of_server.retry.as_ref().map(|retry| retry.value.clone()),
        Some(usual)
    );
    assert_eq!(
        line_of(of_server.breaker.as_ref()).as_deref(),
        Some("candor.toml:3")
    );
    assert!(of_server.read_back.is_none() && of_server.key_place.is_none());
}

#[test]
fn a_tool_can_take_its_servers_question_away() {
    assert!(terms(ROOMS, "list_bookings").confirm.is_none());
    assert!(terms(ROOMS, "cancel_booking").confirm.is_some());
}

#[test]
fn a_read_back_has_its_expressions_and_the_usual_bounds() {
    let read_back = terms(ROOMS, "book_room").read_back.unwrap();
    assert_eq!(read_back.source.to_string(), "candor.toml:14");
    let clause = read_back.value;
    assert_eq!((clause.tool.as_str(), clause.attempts), ("list_bookings", 3));
    assert_eq!(
        (clause.wait, clause.window),
        (Duration::from_millis(500), Duration::from_secs(2))
    );
    assert!(!clause.prove && clause.not_applied.is_none());
    let named: Vec<_> = clause
        .arguments
        .iter()
        .map(|(name, term)| (name.as_str(), term.source()))
        .collect();
    assert_eq!(named, [("day", "today"), ("room", "args.room")]);
}

#[test]
fn nobody_said_means_nothing_is_done() {
    let terms = terms("[servers.rooms.tools.book_room]\neffect = \"write\"", "book_room");
    assert!(terms.read_back.is_none() && terms.retry.is_none() && terms.breaker.is_none());
    assert!(terms.key_place.is_none() && terms.confirm.is_none());
}

#[test]
fn every_slip_in_these_keys_is_found() {
    let source = r#"
[servers.rooms]
breaker = { failures = 0, puase = "30s" }
confirm = ""

[servers.rooms.tools.book_room]
effect = "write"
confirm = 1
idempotency_key = { argument = "a", meta = "b" }
retry = { attempts = 1, within = "0s", wait = "1h" }

[servers.rooms.tools.book_room.read_back]
tool = "book_room"
arguments = { room = "arg.room", day = 1 }
not_applied = "answer.n =="
attempts = 21
window = 2

[servers.rooms.tools.move_room]
idempotency_key = { meta = "two words" }
read_back = { tool = "book_room", applied = "answr.n == 1", prove = "yes" }

[servers.rooms.tools.cancel]
idempotency_key = {}

[servers.rooms.tools.list_rooms]
effect = "read"
read_back = { tool = "list_bookings", applied = "true" }
"#;
    insta::assert_snapshot!(shown(source, &parse(source).unwrap_err()));
}
