//! Credentials leave no text that Candor writes: not towards the model, not in a log, not in the ledger.
//!
//! Three rules, and no guessing by entropy, which damages images, hashes and ids:
//! a text loses what has the exact format of a credential or is assigned to a secret's name ([`text`]); a JSON
//! value also loses strings under a secret's name ([`json`]); and values that are known to be secret go wherever
//! they stand ([`known`], [`masked`]). Foreign words inside Candor's own lose frames of stacks and parts of URLs besides
//! ([`least`]); a server's own flagged answer loses nothing else, and is changed in place ([`raw`]). Each is idempotent, leaves no part of what it masks, works in time linear in its
//! input and says what it changed. Redact first and cut to length afterwards: half a credential has no format.

mod assignment;
mod bare;
mod change;
mod encoded;
mod extent;
mod extra;
mod frames;
mod invisible;
mod json;
mod known;
mod least;
mod names;
mod openings;
mod pem;
mod raw;
mod scan;
mod schemes;
#[cfg(test)]
mod tests;
mod token;
mod url;
mod values;

pub use change::{Change, Redacted, RedactionKind, holds_mask};
pub use extra::{Extra, SecretPattern, SecretPatternFault};
pub use invisible::escape_invisible;
pub use json::{json, json_owned, known_json};
pub use known::{KnownSecrets, known};
pub use least::{disclosure, least, least_json};
pub use names::is_secret_name;
pub use raw::{Rewritten, raw, rewritten};
pub use scan::{masked, text};
