//! What can keep the demo from being shown.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::play::Side;

/// Why the demo ended early. The first fork is whose fault it is.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoFault {
    /// Asked for a scene that is not there.
    #[error("there is no scene \"{asked}\" in the demo; the scenes are {known}")]
    UnknownScene {
        /// As it was typed.
        asked: String,
        /// All there are.
        known: String,
    },
    /// The folder to keep the files in has files already; they could be mistaken for this run's.
    #[error("{} is not empty; give --keep a new folder, or an empty one", folder.display())]
    FolderInUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A file of the demo can't be written.
    #[error("can't write {}; give --keep a folder that can be written to", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// This program can't find itself, which it must, to start the servers.
    #[error("can't find the file of this very program, which plays the demo's servers too")]
    OwnProgram {
        /// What the operating system said.
        source: io::Error,
    },
    /// A server, or Candor before it, did not play.
    #[error("the demo's server \"{server}\" {side} could not be played")]
    Stage {
        /// The server.
        server: &'static str,
        /// Which of the two.
        side: Side,
        /// Why.
        source: StageFault,
    },
    /// `candor calls` on the demo's own ledger went wrong.
    #[error("`candor calls` could not read the demo's ledger ({how}); what it said stands above")]
    Calls {
        /// How it ended.
        how: String,
    },
    /// Our own output can't be written.
    #[error("can't write to stdout")]
    Output {
        /// What the operating system said.
        source: io::Error,
    },
}

/// Why a process did not play its part.
#[derive(Debug, thiserror::Error)]
pub(super) enum StageFault {
    /// It did not start.
    #[error(
        "the process could not be started; check that this program's file is in its place and executable"
    )]
    NotStarted {
        /// What the operating system said.
        source: io::Error,
    },
    /// It ended before the call.
    #[error("the process ended ({how}) before it answered {request}{}", said(stderr))]
    EndedEarly {
        /// How it ended.
        how: String,
        /// What it was asked.
        request: &'static str,
        /// What it said on stderr, cut.
        stderr: String,
    },
    /// It did not answer before the call.
    #[error("the process did not answer {request} in {} s{}", waited.as_secs(), said(stderr))]
    Silent {
        /// What it was asked.
        request: &'static str,
        /// How long the demo waited.
        waited: Duration,
        /// What it said on stderr, cut.
        stderr: String,
    },
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => "; it said nothing on stderr".to_owned(),
        text => format!("; it said on stderr:\n{text}"),
    }
}
