//! One scene, played twice: bare, and through Candor.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::fault::DemoFault;
use super::folder::Folder;
use super::host;
use super::scene::{Patience, SURE, Scene};
use super::seen::Seen;

/// Variables that would have Candor do something else than the page says.
const OTHERS: [&str; 5] = [
    "CANDOR_CONFIG",
    "CANDOR_LEDGER",
    "MCP_TOOL_TIMEOUT",
    "RUST_LOG",
    "LOG_LEVEL",
];

/// Who stands before the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The host itself.
    Bare,
    /// Candor.
    Through,
}

impl Side {
    /// Its folder among the kept files.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Through => "through",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bare => "by itself",
            Self::Through => "behind Candor",
        })
    }
}

/// What came of it on one side.
#[derive(Debug)]
pub(super) struct Played {
    /// What the model would see.
    pub(super) seen: Seen,
    /// How long that took.
    pub(super) took: Duration,
}

/// The company of players: one program in every part, and the files of this run.
#[derive(Debug)]
pub(super) struct Stage {
    /// This very program.
    pub(super) program: PathBuf,
    /// Where the files are.
    pub(super) folder: Folder,
    /// Whether Candor has the demo's contract.
    pub(super) contract: bool,
}

impl Stage {
    /// Plays a scene on one side. Every process of it has ended when this returns.
    pub(super) fn play(&self, scene: &Scene, side: Side) -> Result<Played, DemoFault> {
        let patience = match side {
            Side::Bare => scene.patience.of_bare_host(),
            Side::Through => SURE,
        };
        let called = host::call(self.command(scene, side), scene.tool, scene.arguments, patience).map_err(
            |source| DemoFault::Stage {
                server: scene.server,
                side,
                source,
            },
        )?;
        self.folder
            .keep_received(side, scene.server, &called.ended.received)?;
        Ok(Played {
            seen: Seen::of(&called),
            took: called.took,
        })
    }

    fn command(&self, scene: &Scene, side: Side) -> Command {
        let mut command = Command::new(&self.program);
        for variable in OTHERS {
            command.env_remove(variable);
        }
        if side == Side::Through {
            command
                .arg("--ledger")
                .arg(self.folder.ledger())
                .args(["--name", scene.server]);
            match scene.patience {
                _ if self.contract => {
                    command.arg("--config").arg(self.folder.contract());
                }
                Patience::Ends { option, .. } => {
                    command.args(option);
                }
                Patience::Sure => {}
            }
            command.arg("--").arg(&self.program);
        }
        command.args(["fixture", scene.server]);
        if let Some(truth) = self.folder.truth(side, scene.server) {
            command.args([Path::new("--truth"), &truth]);
        }
        command
    }
}
