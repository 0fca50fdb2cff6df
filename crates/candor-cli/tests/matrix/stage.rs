//! The files and processes of one cell.

use std::{
    ffi::OsStr,
    path::PathBuf,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use candor_fixtures::{Truth, script::Era};
use serde_json::{Value, json};

use crate::{
    conversation::Opening,
    host::{DEADLINE, Host},
};

/// The file that the server's script is in, if it is none that comes with the fixtures.
pub(crate) const SCRIPT: &str = "script.json";

/// A folder with a ledger, a contract, a server and its truth.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    server: &'static str,
}

impl Stage {
    /// A stage with this contract for a server of this name.
    pub(crate) fn new(server: &'static str, config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("candor.toml"), config).unwrap();
        Self { folder, server }
    }

    /// What the server plays from now on, when it is started.
    pub(crate) fn play(&self, script: &Value) {
        std::fs::write(self.file(SCRIPT), script.to_string()).unwrap();
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The ledger's file, or one beside it.
    pub(crate) fn ledger(&self, suffix: &str) -> PathBuf {
        self.file(&format!("ledger.sqlite{suffix}"))
    }

    /// Starts the server behind Candor, opens the conversation and lists the tools.
    pub(crate) fn start(&self, script: &str, options: &[&str], stop: Option<&str>) -> (Host, Opening) {
        let mut command = self.candor();
        command.arg("--ledger").arg(self.ledger(""));
        command
            .args(["--name", self.server, "--config"])
            .arg(self.file("candor.toml"));
        command.args(options).arg("--").arg(env!("CARGO_BIN_EXE_candor"));
        command.args(["fixture", "liar", "--script"]);
        match script {
            SCRIPT => command.arg(self.file(SCRIPT)),
            embedded => command.arg(embedded),
        };
        command.arg("--truth").arg(self.file("truth"));
        if let Some(stop) = stop {
            command.env("CANDOR_STOP_AT", stop);
        }
        let opening = Opening::newest(Era::Legacy);
        let mut host = Host::start(command);
        opening.open(&mut host);
        opening.list(&mut host);
        (host, opening)
    }

    fn candor(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        command
            .current_dir(self.folder.path())
            .env_remove("CANDOR_LEDGER")
            .env_remove("CANDOR_CONFIG");
        command
    }

    /// A command that looks at the ledger.
    pub(crate) fn look(&self, arguments: &[&str]) -> Output {
        let mut command = self.candor();
        command
            .args(arguments)
            .arg("--ledger")
            .arg(self.ledger(""))
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    /// What a command of Candor prints as lines of JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.look(arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// The operations of a tool in the ledger, newest first.
    pub(crate) fn operations(&self, tool: &str) -> Vec<Value> {
        self.json(&["calls", "--json", "--tool", tool])
    }

    /// What the server wrote down so far.
    pub(crate) fn truths(&self) -> Vec<Truth> {
        Truth::read(&self.file("truth")).unwrap()
    }

    /// Waits until no process names a file of this stage: all that was started here is gone, orphans too.
    pub(crate) fn wait_until_all_are_gone(&self) {
        let folder = self.folder.path().to_string_lossy().into_owned();
        wait_until("every process of the cell to end", || {
            !is_named_by_a_process(&folder)
        });
    }

    /// What it wrote of this tool.
    pub(crate) fn fact(&self, tool: &str) -> crate::seen::Fact {
        crate::seen::Fact::of(tool, &self.truths())
    }
}

/// Whether a process has this text in its command line. One that is dead and not yet waited for has none.
fn is_named_by_a_process(text: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.flatten().any(|process| {
        let name = process.file_name();
        name.to_str()
            .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            && std::fs::read(process.path().join(OsStr::new("cmdline")))
                .is_ok_and(|words| String::from_utf8_lossy(&words).contains(text))
    })
}

/// Waits until something holds. Long, because it is never a measure of anything.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "waited {DEADLINE:?} for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The verdict that came with an answer.
pub(crate) fn verdict(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    let verdict = &answer["result"]["_meta"]["candor/verdict"];
    assert!(verdict.is_object(), "an answer without a verdict: {answer:#}");
    json!({ "verdict": verdict, "text": answer["result"]["content"][0]["text"] })
}
