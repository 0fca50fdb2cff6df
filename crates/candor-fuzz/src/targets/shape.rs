//! Whether masking left a JSON value's shape alone.

use serde_json::Value;

/// Only strings differ, and numbers that became a mask.
pub(crate) fn same_but_strings(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::String(_) | Value::Number(_), Value::String(_)) => true,
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .zip(after)
                    .all(|(one, other)| same_but_strings(one, other))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before
                    .values()
                    .zip(after.values())
                    .all(|(one, other)| same_but_strings(one, other))
        }
        (before, after) => before == after,
    }
}
