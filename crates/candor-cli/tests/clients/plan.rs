//! What one client is to do: every session in every era it speaks, with the command lines that start Candor before a fixture.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use candor_fixtures::script::{Document, Script};
use serde_json::{Value, json};

use crate::{
    contract,
    sessions::{ALL, Client, Era, Session, Step},
};

/// A client's plan, and the files its sessions leave.
pub(crate) struct Plan {
    /// The client.
    pub(crate) client: &'static Client,
    /// The sessions, in the order they are played.
    pub(crate) turns: Vec<Turn>,
    folder: tempfile::TempDir,
}

/// One session in one era.
pub(crate) struct Turn {
    /// The session.
    pub(crate) session: &'static Session,
    /// How it is opened.
    pub(crate) era: Era,
    /// What starts Candor with its server.
    pub(crate) command: Vec<String>,
    /// The ledger's file.
    pub(crate) ledger: PathBuf,
}

impl Turn {
    /// The steps of this era.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &'static Step> {
        let era = self.era;
        self.session
            .step
            .iter()
            .filter(move |step| step.eras.contains(&era))
    }
}

/// The program under test. `CANDOR_TEST_BINARY` names another build of it, such as a packaged one.
pub(crate) fn candor() -> OsString {
    std::env::var_os("CANDOR_TEST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_candor").into())
}

impl Plan {
    /// The plan of the client of this name, written to a file.
    pub(crate) fn of(name: &str) -> Self {
        let client = ALL.client.iter().find(|client| client.name == name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut turns = Vec::new();
        for session in &ALL.session {
            for era in client.eras.iter().filter(|era| session.eras.contains(era)) {
                turns.push(turn(session, *era, folder.path()));
            }
        }
        let plan = Self {
            client,
            turns,
            folder,
        };
        std::fs::write(plan.path(), plan.written().to_string()).unwrap();
        plan
    }

    /// Where it is written.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("plan.json")
    }

    fn written(&self) -> Value {
        let sessions: Vec<Value> = self
            .turns
            .iter()
            .map(|turn| {
                let steps: Vec<Value> = turn.steps().map(as_told).collect();
                json!({ "name": turn.session.name, "era": turn.era, "command": turn.command, "steps": steps })
            })
            .collect();
        json!({ "sessions": sessions })
    }
}

/// A step as a client is told it: what to do, not what must be seen.
fn as_told(step: &Step) -> Value {
    json!({
        "name": step.name, "do": step.act, "tool": step.tool, "tools": step.tools, "arguments": step.arguments,
        "progress": step.progress, "awaits": step.awaits,
    })
}

fn turn(session: &'static Session, era: Era, folder: &Path) -> Turn {
    let place = |ending: &str| folder.join(format!("{}-{era:?}.{ending}", session.name));
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let candor = candor().into_string().unwrap();
    let ledger = place("sqlite");
    let mut command = Vec::new();
    if !session.bare {
        command.extend([candor.clone(), "--ledger".into(), text(&ledger)]);
        command.extend(["--log-level", "error"].map(str::to_owned));
        if !session.unnamed {
            command.extend(["--name", "fixture"].map(str::to_owned));
        }
        if !session.contract.is_empty() {
            let config = place("toml");
            std::fs::write(&config, declared(session)).unwrap();
            command.extend(["--config".into(), text(&config)]);
        }
        command.extend(session.options.iter().cloned());
        command.push("--".into());
    }
    command.push(candor);
    command.extend(["fixture", "liar", "--script"].map(str::to_owned));
    command.push(script(&session.script));
    Turn {
        session,
        era,
        command,
        ledger,
    }
}

/// A file beside these tests, or a name of the fixtures' catalogue.
fn script(name: &str) -> String {
    if name.ends_with(".json") {
        return format!("{}/tests/clients/{name}", env!("CARGO_MANIFEST_DIR"));
    }
    name.to_owned()
}

/// The mappings of a session's tools, as an operator writes them.
fn declared(session: &Session) -> String {
    let entry = candor_fixtures::CATALOG
        .iter()
        .find(|entry| entry.name == session.script);
    let script: Script = entry.unwrap().script().unwrap();
    let mapping = |name: &str| {
        let tool = script
            .tools
            .iter()
            .find(|tool| tool.name().as_deref() == Some(name));
        tool.unwrap_or_else(|| panic!("{} has no tool {name}", session.script))
            .mapping
            .as_ref()
    };
    let tools = session.contract.iter();
    let declared: String = tools
        .map(|tool| contract::of(tool, "write", mapping(tool), Document::Structured, None))
        .collect();
    if session.unnamed {
        return declared.replace("servers.fixture.", &format!("servers.{}.", session.script));
    }
    declared
}
