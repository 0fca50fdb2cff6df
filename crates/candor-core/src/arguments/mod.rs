//! Arguments of a call against its contract: every issue at once, lossless coercion, texts a model can act on.

pub mod check;
pub mod coerce;
pub mod issue;
#[cfg(test)]
mod laws;
pub mod lines;
mod names;
pub mod nearest;
#[cfg(test)]
mod tests;

pub use check::{Checked, Mode, Notice, Terms, check};
pub use coerce::{Change, Coerced};
pub use issue::Issue;
pub use lines::{UNREADABLE, lines, lines_of_code};
