//! What a JSON Schema can't say of a booking. Plain functions: the time comes in as an argument, so that a test can choose it.

use candor::{Issue, Principal, Timestamp, about};
use serde_json::Value;

use super::booking::{day, today, written};

/// The day of departure must be a day, and one that has not begun.
pub(super) fn departs_in_the_future(arguments: &Value, now: Timestamp, _who: &Principal) -> Vec<Issue> {
    let Some(given) = arguments.get("departureDate").and_then(Value::as_str) else {
        return Vec::new();
    };
    let today = today(now);
    let expected = match day(given) {
        None => "a day that is in the calendar, as dd/mm/yyyy".to_owned(),
        Some(day) if day <= today => format!("a day in the future; today is {}", written(today)),
        Some(_) => return Vec::new(),
    };
    vec![about(arguments, "/departureDate", "future", expected)]
}

/// A flight leads somewhere else.
pub(super) fn leads_elsewhere(arguments: &Value, _now: Timestamp, _who: &Principal) -> Vec<Issue> {
    let (from, to) = (arguments.get("from"), arguments.get("to"));
    if from.is_none() || from != to {
        return Vec::new();
    }
    vec![about(
        arguments,
        "/to",
        "elsewhere",
        "another airport than the one of departure",
    )]
}
