//! Tools of an MCP server that tell what really happened.

pub mod arguments;
pub mod asking;
pub mod call;
mod calling;
pub mod carry;
mod catalogue;
pub mod declaration;
pub mod event;
mod facts;
mod finish;
pub mod guard;
mod halting;
mod handler;
pub mod http;
#[expect(
    deprecated,
    reason = "the specification gives logging up and knows nothing better for messages during a call"
)]
mod log;
pub mod outcome;
pub mod parameters;
pub mod principal;
mod said;
pub mod schema;
pub mod seal;
pub mod server;
pub mod stop;
pub mod tasks;
pub mod tool;

pub use arguments::{Issue, Rule, about};
pub use asking::{Answer, Form, Link};
pub use call::{Call, Halt};
pub use candor_core::arguments::Mode;
pub use candor_core::judgment::verdict::{Effect, Kind, Part, Repeat};
pub use declaration::Declaration;
pub use event::Event;
pub use guard::quiet_panics;
pub use jiff::Timestamp;
pub use log::Level;
pub use outcome::{Done, Outcome, Parts, Reason, Receipt, Reference};
pub use parameters::Parameters;
pub use principal::{Principal, Principals, Refused};
pub use rmcp;
pub use schema::{NoArguments, input_schema, output_schema};
pub use server::{Builder, Candor, StartFault};
pub use stop::Stop;
pub use tool::{Returned, Tool, ToolBuilder, Tools};
