//! The id in the first bytes of a message: never another one than the whole message has, however much of it is there.

use candor_core::wire::envelope::{Malformed, Message, read};
use candor_core::wire::head;

use crate::broken::{Broken, law};
use crate::input::text;

/// Most places at which one message is cut.
const CUTS: usize = 200;

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    // Bytes of any kind come here: a line that was too long was never looked at.
    head::id(input);
    let text = text(input);
    let id = match read(&text) {
        Ok(Message::Request(request)) => request.id.get(),
        Ok(Message::Response(response)) => response.id.get(),
        Err(Malformed::BadRequest { id, .. }) => id.get(),
        _ => return Ok(()),
    };
    let bytes = text.as_bytes();
    // A name may be written with escapes; then the head may miss it, but must still name no other.
    if text.contains("\"id\"") && !text.contains("\\u") {
        let found = head::id(bytes);
        law(
            "the head of a whole message has its id",
            found == Some(id),
            || format!("{found:?} instead of {id}"),
        )?;
    }
    let step = bytes.len() / CUTS + 1;
    for end in (0..bytes.len()).step_by(step) {
        let found = head::id(bytes.get(..end).unwrap_or_default());
        law(
            "a part of a message has its id or none",
            found.is_none_or(|found| found == id),
            || format!("{found:?} instead of {id} in the first {end} bytes"),
        )?;
    }
    Ok(())
}
