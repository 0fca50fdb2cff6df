//! One fixture with its files, played bare or through Candor, with a tee before it either way.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use candor_fixtures::Truth;

use super::{conversation::Opening, host::Host, transcript::Transcript};

/// Whether Candor stands between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The host talks to the fixture itself.
    Bare,
    /// The host talks to Candor, and Candor to the fixture.
    Through,
}

/// A server, its files, and the options Candor gets.
pub(crate) struct Scene {
    server: Server,
    options: Vec<OsString>,
    folder: tempfile::TempDir,
}

/// What stands at the far end.
enum Server {
    /// A fixture that plays this script.
    Script(PathBuf),
    /// Any other command.
    Command(Vec<OsString>),
}

/// The program under test. `CANDOR_TEST_BINARY` names another build of it, such as a packaged one.
pub(crate) fn candor() -> OsString {
    std::env::var_os("CANDOR_TEST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_candor").into())
}

impl Scene {
    /// A scene with an embedded script.
    pub(crate) fn of(script: &str) -> Self {
        Self::new(Server::Script(script.into()))
    }

    /// A scene with a script that the test wrote.
    pub(crate) fn written(script: &str) -> Self {
        let mut scene = Self::of("");
        let file = scene.path("script.json");
        std::fs::write(&file, script).unwrap();
        scene.server = Server::Script(file);
        scene
    }

    /// A scene with any server.
    pub(crate) fn with_server(command: &[OsString]) -> Self {
        Self::new(Server::Command(command.to_vec()))
    }

    fn new(server: Server) -> Self {
        Self {
            server,
            options: Vec::new(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// With one more option for Candor.
    pub(crate) fn option(mut self, option: impl Into<OsString>) -> Self {
        self.options.push(option.into());
        self
    }

    /// With a configuration for Candor.
    pub(crate) fn config(self, text: &str) -> Self {
        let file = self.path("candor.toml");
        std::fs::write(&file, text).unwrap();
        self.option("--config").option(file)
    }

    /// A file in this scene's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The ledger's file.
    pub(crate) fn ledger(&self) -> PathBuf {
        self.path("ledger.sqlite")
    }

    /// Starts the fixture, and Candor before it if so wanted.
    pub(crate) fn start(&self, way: Way) -> Host {
        Host::start(self.command(way))
    }

    /// Starts, opens the conversation and lists the tools, so that Candor has no reason to ask by itself.
    pub(crate) fn open(&self, way: Way, opening: &Opening) -> Host {
        let mut host = self.start(way);
        opening.open(&mut host);
        opening.list(&mut host);
        host
    }

    /// The command that [`Scene::start`] starts.
    pub(crate) fn command(&self, way: Way) -> Command {
        let mut command = Command::new(candor());
        if way == Way::Through {
            command
                .arg("--ledger")
                .arg(self.ledger())
                .args(["--name", "fixture"])
                .args(&self.options);
            command.arg("--").arg(candor());
        }
        command
            .args(["fixture", "tee", "--in"])
            .arg(self.record(way, "in"));
        command.arg("--out").arg(self.record(way, "out")).arg("--");
        match &self.server {
            Server::Script(script) => {
                command
                    .arg(candor())
                    .args(["fixture", "liar", "--script"])
                    .arg(script);
                command
                    .arg("--truth")
                    .arg(self.record(way, "truth"))
                    .arg("--ledger")
                    .arg(self.ledger());
                command.arg("--candor").arg(candor());
            }
            Server::Command(words) => {
                command.args(words);
            }
        }
        command.current_dir(self.folder.path());
        command
    }

    /// Closes the host and gathers what both ends and the truth say.
    pub(crate) fn end(&self, way: Way, host: Host) -> Transcript {
        let ended = host.close();
        let read = |what: &str| std::fs::read(self.record(way, what)).unwrap_or_default();
        Transcript::new(ended, &read("in"), &read("out"), self.truth(way))
    }

    /// What was really done so far.
    pub(crate) fn truth(&self, way: Way) -> Vec<Truth> {
        Truth::read(&self.record(way, "truth")).unwrap()
    }

    /// What `candor calls --json` says of this scene's ledger.
    pub(crate) fn calls(&self) -> Vec<serde_json::Value> {
        let output = Command::new(candor())
            .args(["calls", "--json", "--limit", "100000", "--ledger"])
            .arg(self.ledger())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "candor calls: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let lines = String::from_utf8(output.stdout).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn record(&self, way: Way, what: &str) -> PathBuf {
        self.path(match way {
            Way::Bare => "bare",
            Way::Through => "through",
        })
        .with_extension(Path::new(what))
    }
}
