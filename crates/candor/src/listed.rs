//! Lists that say why they are empty.

use schemars::JsonSchema;
use serde::Serialize;

/// A list as a tool's value. `[]` alone may mean that there is nothing, that the wrong place was searched, or that an
/// index is missing; this says which.
///
/// ```
/// use candor::{Listed, Outcome};
///
/// let found: Vec<String> = Vec::new();
/// let said = Listed::of("bookings of 2025-08-08", found, "nothing is booked that day");
/// let structure = serde_json::json!({
///     "count": 0, "items": [],
///     "searched": "bookings of 2025-08-08", "emptyBecause": "nothing is booked that day",
/// });
/// assert_eq!(serde_json::to_value(&said).ok(), Some(structure));
/// # let _: Outcome<Listed<String>> = Outcome::completed(said);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed<T> {
    /// How many there are.
    count: usize,
    /// What was found.
    items: Vec<T>,
    /// Where was looked, and for what.
    searched: String,
    /// Why there is nothing; absent where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    empty_because: Option<String>,
}

impl<T> Listed<T> {
    /// What was found where, and why there would be nothing. The reason is told only where there is nothing.
    pub fn of(searched: impl Into<String>, items: Vec<T>, if_empty: impl Into<String>) -> Self {
        Self {
            count: items.len(),
            empty_because: items.is_empty().then(|| if_empty.into()),
            items,
            searched: searched.into(),
        }
    }

    /// Nothing was found, and this is why.
    pub fn empty(searched: impl Into<String>, why: impl Into<String>) -> Self {
        Self::of(searched, Vec::new(), why)
    }
}
