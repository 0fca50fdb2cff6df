//! Asking the user (and the client): one way to write it, whatever the client's revision.
//!
//! A tool writes `let answer = call.ask("name", &form).await?;` and gets one of four ends. A legacy client is asked inside
//! the call; a modern one in rounds, in which the tool runs again from its start with the answers so far; a task asks on
//! its board. So nothing may change the world before the last question: say [`Call::effect_begins`](crate::Call::effect_begins)
//! where that starts.
//!
//! Secrets are never asked for in a form, answers are checked on accept only, and what a user wrote appears in no log of
//! this library. (rmcp itself logs whole messages at `debug`: run it with `rmcp=error`.)

mod answer;
mod answers;
mod cause;
pub(crate) mod clock;
mod field;
mod form;
mod in_task;
mod legacy;
mod link;
mod offers;
#[cfg(test)]
mod over_rmcp;
mod parse;
mod question;
pub(crate) mod rounds;
mod schema;
#[cfg(test)]
mod tests;
mod way;

pub use answer::{Answer, Misfit};
pub use answers::Answers;
pub(crate) use cause::{Cause, Unable};
pub use clock::OutOfTime;
pub use field::{Boolean, Choice, Choices, Field, Format, Integer, Number, Text};
pub use form::{Form, FormFault, LONGEST_WAIT, USUAL_WAIT};
pub use in_task::{Board, Told};
pub use link::Link;
pub(crate) use offers::Offers;
pub use question::{Means, Question};
pub(crate) use way::Asking;
