//! Runs the official clients: a process each, which reads a plan and prints what its caller saw of every step.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::process::Command;

/// How long a client may take for a whole plan. Long, because it is never a measure of anything.
const DEADLINE: Duration = Duration::from_secs(240);

/// A client, and what is its own: which eras it speaks, what it throws, whether it has tasks of 2025-11-25.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    /// What must be there under `clients/` for it to run.
    needs: &'static str,
    script: &'static str,
    pub(crate) eras: &'static [&'static str],
    /// The class of what it throws for a JSON-RPC error.
    pub(crate) throws: &'static str,
    /// Has it tasks? The 2.x lines left those of 2025-11-25 behind, and have those of 2026-07-28 not yet.
    pub(crate) tasks: bool,
}

pub(crate) const TYPESCRIPT_1: Client = Client {
    name: "typescript-1",
    needs: "typescript/node_modules",
    script: "typescript/v1.mjs",
    eras: &["legacy"],
    throws: "McpError",
    tasks: true,
};

pub(crate) const TYPESCRIPT_2: Client = Client {
    name: "typescript-2",
    script: "typescript/v2.mjs",
    eras: &["legacy", "modern"],
    throws: "ProtocolError",
    tasks: false,
    ..TYPESCRIPT_1
};

pub(crate) const PYTHON_1: Client = Client {
    name: "python-1",
    needs: "python/.venv-1/bin/python",
    script: "python/v1.py",
    eras: &["legacy"],
    throws: "McpError",
    tasks: true,
};

pub(crate) const PYTHON_2: Client = Client {
    name: "python-2",
    needs: "python/.venv-2/bin/python",
    script: "python/v2.py",
    eras: &["legacy", "modern"],
    throws: "MCPError",
    tasks: false,
};

/// What a driver prints of one step.
#[derive(Debug, Deserialize)]
pub(crate) struct Seen {
    pub(crate) session: String,
    pub(crate) step: String,
    /// `result`, `threw`, `tools` ..., as the client gave it, and `heard`.
    pub(crate) saw: Value,
}

impl Client {
    /// Is it installed? Where it is not, says so. In CI that is a failure.
    pub(crate) fn is_installed(&self) -> bool {
        let needed = folder().join(self.needs);
        if needed.exists() {
            return true;
        }
        let needed = needed.display();
        assert!(std::env::var_os("CI").is_none(), "{needed} is not installed");
        eprintln!("skipped: no {needed} (run scripts/clients.sh)");
        false
    }

    /// Plays sessions; gives what was seen of each step, in order.
    pub(crate) async fn play(&self, sessions: Vec<Value>) -> Vec<Seen> {
        let stage = tempfile::tempdir().unwrap();
        let plan = stage.path().join("plan.json");
        std::fs::write(&plan, json!({ "sessions": sessions }).to_string()).unwrap();
        let mut command = if self.script.ends_with(".py") {
            let mut python = Command::new(folder().join(self.needs));
            python.arg("-B");
            python
        } else {
            Command::new("node")
        };
        command.arg(folder().join(self.script)).arg(&plan);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.kill_on_drop(true).spawn().unwrap();
        let ended = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
        let ended = ended
            .unwrap_or_else(|_| panic!("{} does not end", self.name))
            .unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{} failed:\n{errors}", self.name);
        let out = String::from_utf8(ended.stdout).unwrap();
        let read = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|fault| panic!("{line:?}: {fault}\n{errors}"))
        };
        out.lines().map(read).collect()
    }
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients"))
}
