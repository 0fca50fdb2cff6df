//! What can keep a fixture from running, by whose fault it is.

use std::path::PathBuf;

/// Why a fixture could not run. The first five are the caller's, the next the script's, the last the machine's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// No embedded script has this name.
    #[error("no fixture is called \"{name}\"; there are: {known}, liar, tee")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// The names there are, with commas.
        known: String,
    },
    /// `liar` plays any script but has none of its own.
    #[error("fixture liar needs --script with the name of an embedded script or a file")]
    ScriptMissing,
    /// An embedded fixture was given another script.
    #[error("fixture {name} plays its own script; use `liar --script` for another")]
    ScriptNotWanted {
        /// The fixture asked for.
        name: String,
    },
    /// An option that no fixture knows.
    #[error("unknown option \"{option}\"; fixtures take {expected}")]
    UnknownOption {
        /// What was written.
        option: String,
        /// The options there are.
        expected: &'static str,
    },
    /// An option without its value, or `tee` without a command.
    #[error("{option} needs {expected} after it")]
    ValueMissing {
        /// The option.
        option: &'static str,
        /// What should follow.
        expected: &'static str,
    },
    /// The script can't be read as one.
    #[error("script {name} is not valid: {source}")]
    Script {
        /// Its name or file.
        name: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// The script can be read but does not say what a script must.
    #[error("script {name}: {what}")]
    ScriptSilent {
        /// Its name or file.
        name: String,
        /// What is missing and where.
        what: String,
    },
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another program can't be started.
    #[error("can't start {}: {source}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The other end of a pipe is gone or broken.
    #[error("pipe: {0}")]
    Pipe(#[from] std::io::Error),
}
