//! When a room is wanted, and what no schema can say about it.

use candor::{Issue, Principal, Timestamp, about};
use jiff::civil::Date;
use jiff::tz::Offset;
use serde_json::Value;

/// A part of a day, as people write it: `from` before `to`, both `hh:mm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    /// `yyyy-mm-dd`.
    pub(crate) day: String,
    /// When it begins.
    pub(crate) from: String,
    /// When it ends.
    pub(crate) to: String,
}

impl Slot {
    /// Do the two have a moment in common? Texts of one length are in the order of their times.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.day == other.day && self.from < other.to && other.from < self.to
    }
}

/// A day that is in the calendar and not past. By UTC: rooms in many zones would need their own.
pub(crate) fn is_to_come(arguments: &Value, now: Timestamp, _: &Principal) -> Vec<Issue> {
    let Some(text) = arguments.get("day").and_then(Value::as_str) else {
        return Vec::new();
    };
    let today = Offset::UTC.to_datetime(now).date();
    match text.parse::<Date>() {
        Ok(day) if day >= today => Vec::new(),
        Ok(_) => {
            let expected = format!("today or a day to come; today is {today}");
            vec![about(arguments, "/day", "to_come", expected)]
        }
        Err(_) => vec![about(
            arguments,
            "/day",
            "calendar",
            "a day that is in the calendar, as yyyy-mm-dd",
        )],
    }
}

/// It ends after it begins.
pub(crate) fn ends_after_it_begins(arguments: &Value, _: Timestamp, _: &Principal) -> Vec<Issue> {
    let time = |name: &str| arguments.get(name).and_then(Value::as_str);
    match (time("from"), time("to")) {
        (Some(from), Some(to)) if to <= from => {
            vec![about(arguments, "/to", "order", format!("a time after {from}"))]
        }
        _ => Vec::new(),
    }
}
