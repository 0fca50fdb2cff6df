//! What the items of a batch say of themselves, one by one. The whole is derived from them and never read beside them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::pointer::Pointer;
use super::scalar::Scalar;
use super::{Reading, ValueList, Values, cut};
use crate::judgment::verdict::{Effect, Outcome, Part};
use crate::judgment::whole::whole;

/// Items that are kept one by one; the rest is one part by what became of it.
pub const MOST_PARTS: usize = 200;
/// The name of an item is cut at this many bytes, and so is its code.
const NAME_LIMIT: usize = 80;

/// Where the items are, and which field of each decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartsClause {
    /// A list, or an object whose keys are the names.
    pub items: Pointer,
    /// The name, inside an item.
    pub name: Option<Pointer>,
    /// The field that decides, inside an item.
    pub pointer: Pointer,
    /// What its values mean.
    pub values: Values,
    /// The server's own code, inside an item.
    pub code: Option<Pointer>,
}

/// The parts of one result, with what the whole reads as.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PartsReading {
    pub(super) reading: Reading,
    pub(super) parts: Vec<Part>,
}

impl PartsClause {
    /// Reads the items in `document`; `None` where there is none. `nothing_done` holds the codes of which the contract says
    /// that nothing was done.
    pub(super) fn read(&self, document: &Value, nothing_done: &BTreeSet<String>) -> Option<PartsReading> {
        let mut parts: Vec<Part> = match self.items.find(document)? {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(at, item)| {
                    let name = self.name_of(item).unwrap_or_else(|| format!("item {}", at + 1));
                    self.part(name, item, nothing_done)
                })
                .collect(),
            Value::Object(items) => items
                .iter()
                .map(|(key, item)| {
                    let name = self.name_of(item).unwrap_or_else(|| cut(key, NAME_LIMIT));
                    self.part(name, item, nothing_done)
                })
                .collect(),
            _ => return None,
        };
        if parts.is_empty() {
            return None;
        }
        let reading = reading_of(&parts);
        if parts.len() > MOST_PARTS {
            let rest = parts.split_off(MOST_PARTS - 1);
            let (outcome, effect) = whole(&rest);
            parts.push(Part {
                name: format!("the other {}", rest.len()),
                outcome,
                effect,
                code: None,
            });
        }
        Some(PartsReading { reading, parts })
    }

    fn name_of(&self, item: &Value) -> Option<String> {
        scalar(self.name.as_ref()?, item)
    }

    fn part(&self, name: String, item: &Value, nothing_done: &BTreeSet<String>) -> Part {
        let state = self.pointer.find(item).and_then(Scalar::of);
        let meaning = state.and_then(|state| self.values.meaning(&state));
        let code = self.code.as_ref().and_then(|pointer| scalar(pointer, item));
        let spared = code.as_ref().is_some_and(|code| nothing_done.contains(code));
        let (outcome, effect) = match meaning {
            Some(ValueList::Completed) => (Outcome::Completed, Effect::Applied),
            Some(ValueList::Accepted) => (Outcome::Accepted, Effect::Unknown),
            Some(ValueList::Rejected) => (Outcome::Rejected, Effect::NotApplied),
            Some(ValueList::Failed) if spared => (Outcome::Failed, Effect::NotApplied),
            Some(ValueList::Failed) => (Outcome::Failed, Effect::Unknown),
            Some(ValueList::Partial) => (Outcome::Partial, Effect::Partial),
            None => (Outcome::Unknown, Effect::Unknown),
        };
        let told = !matches!(outcome, Outcome::Completed | Outcome::Accepted);
        Part {
            name,
            outcome,
            effect,
            code: code.filter(|_| told),
        }
    }
}

/// What the whole reads as, by its parts.
fn reading_of(parts: &[Part]) -> Reading {
    match whole(parts) {
        (Outcome::Completed, _) => Reading::Completed,
        (Outcome::Accepted, _) => Reading::Accepted,
        (Outcome::Partial, _) => Reading::Partial,
        (Outcome::Rejected, Effect::NotApplied) => Reading::Rejected,
        (Outcome::Failed, Effect::NotApplied) => Reading::FailedUnapplied,
        (Outcome::Failed, _) => Reading::Failed,
        _ => Reading::Unknown,
    }
}

fn scalar(pointer: &Pointer, item: &Value) -> Option<String> {
    let scalar = Scalar::of(pointer.find(item)?)?;
    (scalar != Scalar::Null).then(|| cut(&scalar.to_plain(), NAME_LIMIT))
}
