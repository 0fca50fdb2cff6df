//! Servers that lie in known ways, with the truth written beside them. For the demo and for tests.
//!
//! Every server here is one small engine (`server`) that plays a script ([`script`]): which tools it lists, and what
//! it really does and then says when one is called. The lies are therefore data, and each stands beside the rows of the
//! decision table that it proves. What really happened goes to a truth file ([`Truth`]), which nothing but a test reads.
//!
//! Blocking standard I/O and two threads, no async: a fixture must be plainer than what is tested with it.

pub mod catalog;
mod end;
pub mod fault;
mod ledger;
pub mod options;
pub mod script;
mod server;
mod tee;
mod template;
mod truth;
mod wire;

use std::ffi::OsString;

pub use catalog::{CATALOG, Embedded};
pub use fault::Fault;
pub use truth::Truth;

/// Runs one fixture on this process's own stdin and stdout until the other side closes, and gives the exit code the
/// process should end with. End it by [`std::process::exit`]: a thread may still be waiting for stdin.
///
/// `name` is the name of an embedded script (see [`CATALOG`]), `liar` (any script, by `--script NAME-OR-FILE`) or `tee`
/// (records both directions of another command's pipes). Options: see [`options`].
///
/// # Errors
///
/// [`Fault`] says whose fault it is and what was expected; nothing was written to stdout before a fault of usage.
pub fn run(name: &str, arguments: &[OsString]) -> Result<i32, Fault> {
    if name == "tee" {
        return tee::run(&options::Tee::parse(arguments)?);
    }
    let options = options::Serve::parse(arguments)?;
    let script = match (name, &options.script) {
        ("liar", Some(source)) => catalog::load(source)?,
        ("liar", None) => return Err(Fault::ScriptMissing),
        (_, None) => catalog::embedded(name)?,
        (_, Some(_)) => {
            return Err(Fault::ScriptNotWanted {
                name: name.to_owned(),
            });
        }
    };
    server::serve(&script, options)
}
