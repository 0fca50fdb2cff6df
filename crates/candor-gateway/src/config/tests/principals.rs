//! Rules that hold for some callers, and rules that look at who calls.

use candor_core::contract::rules::RuleAnswer;
use jiff::Timestamp;
use serde_json::json;

use super::*;

const HOTEL: &str = r#"
[[servers.hotel.tools.book.rules]]
name = "suite"
check = "args.room != 'suite' || principal.name == 'ops-ada'"
message = "the suite is for ops-ada, and this is {{ principal.name }}"

[[servers.hotel.tools.book.rules]]
name = "small"
principals = ["guest-*", "visitor"]
check = "args.guests <= 4"
message = "a guest books for at most 4"
"#;

/// The names of the rules that `principal` breaks.
fn broken(principal: &str) -> Vec<String> {
    let command_line = CommandLine {
        principal: (!principal.is_empty()).then(|| principal.to_owned()),
        ..CommandLine::default()
    };
    let config = parse(HOTEL).unwrap_or_else(|faults| panic!("{}", shown(HOTEL, &faults)));
    let args = json!({ "room": "suite", "guests": 9 });
    let rules = config.for_tool("hotel", "book", &command_line).rules;
    rules
        .iter()
        .filter_map(
            |rule| match rule.value.check_for(principal, &args, Timestamp::UNIX_EPOCH) {
                RuleAnswer::Holds => None,
                RuleAnswer::Broken(issue) | RuleAnswer::CannotTell(issue) => Some(issue.expected),
            },
        )
        .collect()
}

#[test]
fn a_rule_holds_for_those_it_names_and_sees_who_calls() {
    let small = "a guest books for at most 4";
    let suite = |name: &str| format!("the suite is for ops-ada, and this is {name}");
    assert_eq!(broken("ops-ada"), [""; 0]);
    assert_eq!(broken("guest-1"), [suite("guest-1"), small.to_owned()]);
    assert_eq!(broken("visitor"), [suite("visitor"), small.to_owned()]);
    assert_eq!(broken("ops-bob"), [suite("ops-bob")]);
    assert_eq!(broken("")[..1], [suite("")][..]);
}
