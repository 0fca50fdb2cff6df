//! Tools of an MCP server that tell what really happened.
//!
//! A tool call that came back is not a thing that got done. This crate stands beside [`rmcp`], the official SDK: a tool is a
//! function from checked arguments to an [`Outcome`], and the wrapper [`Candor`] makes results of them whose text, structure
//! and error flag say the same. Before and after, line by line: `docs/library.md` in the repository.
//!
//! # Tutorial
//!
//! A server with one tool, called by a client in the same process. First the arguments. What their schema says will hold, and
//! the descriptions become the words of a refusal:
//!
//! ```
//! use candor::{Outcome, Reason, Tool, Tools};
//! use rmcp::ServiceExt;
//! use rmcp::model::CallToolRequestParams;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use serde_json::json;
//!
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Order {
//!     /// what to bring
//!     dish: String,
//!     /// how many plates
//!     #[schemars(range(min = 1, max = 9))]
//!     plates: u32,
//! }
//!
//! // The result. It becomes `structuredContent`, and its schema is advertised.
//! #[derive(Serialize, JsonSchema)]
//! struct Bill {
//!     number: u32,
//! }
//!
//! // The tool: it says what it may change, and gives an outcome.
//! fn order() -> Tool {
//!     Tool::new("order", "Orders from the kitchen").writes().run(|order: Order, _call| async move {
//!         match order.dish.as_str() {
//!             "soup" => Outcome::completed_with(Bill { number: 7 }, "bill 7"),
//!             // Taken on, and not done: there is no `Bill` in it.
//!             "roast" => Outcome::accepted("ticket 12"),
//!             _ => Outcome::Rejected(Reason::new("NOT_ON_THE_CARD", "the kitchen has soup and roast")),
//!         }
//!     })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The server. It is served as any server of rmcp is: `server.serve(rmcp::transport::stdio())`, or over HTTP.
//! let server = Tools::new("kitchen", "1.0.0").with(order()).build()?;
//! let (near, far) = tokio::io::duplex(65_536);
//! tokio::spawn(async move { server.serve(far).await.expect("it is served").waiting().await });
//! let client = ().serve(near).await?;
//!
//! let call = |arguments: serde_json::Value| {
//!     let arguments = arguments.as_object().cloned().unwrap_or_default();
//!     client.call_tool(CallToolRequestParams::new("order").with_arguments(arguments))
//! };
//! let said = |result: &rmcp::model::CallToolResult| result.content[0].as_text().expect("a text").text.clone();
//!
//! // Done, and proven.
//! let done = call(json!({ "dish": "soup", "plates": 2 })).await?;
//! assert_eq!(done.structured_content, Some(json!({ "number": 7 })));
//!
//! // Taken on.
//! let taken = call(json!({ "dish": "roast", "plates": 2 })).await?;
//! assert!(said(&taken).starts_with("ACCEPTED, NOT YET DONE: "));
//!
//! // Refused by the tool. Nothing changed, and it says so.
//! let refused = call(json!({ "dish": "cake", "plates": 2 })).await?;
//! assert!(said(&refused).starts_with("NOT DONE: "));
//! assert_eq!(refused.is_error, Some(true));
//!
//! // Refused before it: both faults at once.
//! let bad = call(json!({ "dish": 5, "plates": 1000 })).await?;
//! assert!(said(&bad).contains("/dish: expected"));
//! assert!(said(&bad).contains("/plates: expected an integer from 1 to 9, received 1000"));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go on
//!
//! - [`outcome`]: what a tool can say became of a call; [`Listed`]: why a list is empty. [`Stop`]: how it breaks down
//!   without telling secrets.
//! - [`Candor`] around servers by macro or by hand, with [`Parameters`] and [`Declaration`]; [`Tools`] without macros.
//! - [`Principal`], scopes and tenants; [`Event`] for a log of what became of each call.
//! - [`asking`]: one way to ask the user, whatever the client's revision. [`tasks`]: calls that outlive their request.
//! - [`http`]: an HTTP exchange as an outcome.

pub mod arguments;
pub mod asking;
pub mod call;
mod calling;
pub mod carry;
mod catalogue;
pub mod declaration;
pub mod describe;
pub mod event;
mod facts;
mod finish;
pub mod guard;
mod halting;
mod handler;
pub mod http;
mod listed;
#[expect(
    deprecated,
    reason = "the specification gives logging up and knows nothing better for messages during a call"
)]
mod log;
pub mod outcome;
pub mod parameters;
pub mod principal;
mod resuming;
mod said;
pub mod schema;
pub mod seal;
pub mod server;
pub mod stop;
mod tasking;
pub mod tasks;
pub mod tool;

pub use arguments::{Issue, Rule, about};
pub use asking::{Answer, Form, Link};
pub use call::{Call, Halt};
pub use candor_core::arguments::Mode;
pub use candor_core::judgment::verdict::{Effect, Kind, Part, Repeat};
pub use declaration::Declaration;
pub use describe::{Lang, describe};
pub use event::Event;
pub use guard::quiet_panics;
pub use jiff::Timestamp;
pub use listed::Listed;
pub use log::Level;
pub use outcome::{Done, Outcome, Parts, Reason, Receipt, Reference};
pub use parameters::Parameters;
pub use principal::{Principal, Principals, Refused};
pub use rmcp;
pub use schema::{NoArguments, input_schema, output_schema};
pub use server::{Builder, Candor, StartFault};
pub use stop::Stop;
pub use tool::{Returned, Tool, ToolBuilder, Tools};

/// The page for authors, so that its code is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;

/// The page about HTTP, likewise.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library-http.md")]
struct HttpPage;
