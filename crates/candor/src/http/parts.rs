//! The parts of an answer with 207, each ruled by its own status.

use ::http::StatusCode;
use candor_core::contract::effect::EffectClass;
use candor_core::judgment::verdict::Part;
use serde_json::Value;

use super::status::{Ending, ruling};
use super::terms::PartsAt;
use super::told::code_of;

/// The longest name of a part that is kept, in characters.
const LONGEST: usize = 80;

/// The parts in this body; `None` if there is no list, or nothing in it. A part whose status can't be read is one of
/// which nobody knows: it is never left out.
pub(super) fn read(at: &PartsAt, body: &Value, class: EffectClass) -> Option<Vec<Part>> {
    let list = body
        .pointer(&at.list)?
        .as_array()
        .filter(|list| !list.is_empty())?;
    Some(
        list.iter()
            .enumerate()
            .map(|(place, item)| part(at, place, item, class))
            .collect(),
    )
}

fn part(at: &PartsAt, place: usize, item: &Value, class: EffectClass) -> Part {
    let name = match item.pointer(&at.name) {
        Some(Value::String(name)) if !name.is_empty() => name.chars().take(LONGEST).collect(),
        Some(Value::Number(number)) => number.to_string(),
        _ => format!("#{}", place + 1),
    };
    let status = item.pointer(&at.status).and_then(Value::as_u64);
    let status = status.and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok());
    // Parts of parts are not read: of such a one nobody knows, as of one without a status.
    let ending = match status {
        Some(status) if status != StatusCode::MULTI_STATUS => Ending::Status(status),
        _ => Ending::Lost,
    };
    let ruling = ruling(ending, class);
    Part {
        name,
        outcome: ruling.outcome,
        effect: ruling.effect,
        code: ruling.kind.and(status).map(code_of),
    }
}
