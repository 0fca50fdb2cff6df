//! From an HTTP exchange to an outcome, and back: what a tool makes of its backend's answer, and what a server with an
//! HTTP API of its own answers.
//!
//! Only types of the `http` crate and bytes are used, so it does not matter which client or server made them. The table
//! of statuses and examples are in `docs/library-http.md`.

mod answered;
pub mod api;
pub mod body;
mod decode;
pub mod exchange;
mod parts;
pub mod problem;
pub mod retry;
pub mod status;
pub mod terms;
mod told;

pub use api::{Api, Reply};
pub use body::Body;
pub use candor_core::contract::effect::EffectClass;
pub use exchange::{Answer, Exchange, Loss, NoConnection};
pub use problem::Problem;
pub use terms::{Credential, Sign, Terms};
