//! What a JSON Schema can't say of a booking. Plain functions: the time comes in as an argument, so that a test can choose it.

use candor::Principal;
use candor::outcome::Issue;
use jiff::Timestamp;
use serde_json::Value;

use super::booking::{day, today, written};

/// The day of departure must be a day, and one that has not begun.
pub(crate) fn departs_in_the_future(arguments: &Value, now: Timestamp, _who: &Principal) -> Vec<Issue> {
    let Some(given) = arguments.get("departureDate").and_then(Value::as_str) else {
        return Vec::new();
    };
    let today = today(now);
    let expected = match day(given) {
        None => "a day that is in the calendar, as dd/mm/yyyy".to_owned(),
        Some(day) if day <= today => format!("a day in the future; today is {}", written(today)),
        Some(_) => return Vec::new(),
    };
    vec![issue("/departureDate", "future", expected, given)]
}

/// A flight leads somewhere else.
pub(crate) fn leads_elsewhere(arguments: &Value, _now: Timestamp, _who: &Principal) -> Vec<Issue> {
    let airport = |name: &str| arguments.get(name).and_then(Value::as_str);
    match (airport("from"), airport("to")) {
        (Some(from), Some(to)) if from == to => {
            vec![issue("/to", "elsewhere", "another airport than /from".to_owned(), to)]
        }
        _ => Vec::new(),
    }
}

fn issue(path: &str, rule: &str, expected: String, received: &str) -> Issue {
    Issue {
        path: path.to_owned(),
        rule: rule.to_owned(),
        expected,
        received: Some(Value::from(received).to_string()),
        hint: None,
    }
}
