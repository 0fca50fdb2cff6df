//! The subjects as `subjects/subjects.toml` tells them, and the scratch folder that each runs in.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;
use serde_json::Value;

use crate::isolation;

/// One server, how to start it, and what is expected of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subject {
    /// What it is called here.
    pub(crate) name: String,
    /// Package and version.
    pub(crate) package: String,
    /// SDK or language.
    pub(crate) made_with: String,
    start: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    git: bool,
    /// What it is told and must be in no ledger and no log.
    #[serde(default)]
    pub(crate) secrets: Vec<String>,
    /// The code it ends with after its stdin ended.
    pub(crate) exit: i32,
    /// How like each other its lists are from run to run.
    #[serde(default)]
    pub(crate) list: Same,
    /// What `server/discover` as the first message does to it.
    pub(crate) discover: String,
    /// A call that works.
    #[serde(default)]
    pub(crate) good: Option<Call>,
    /// Calls that Candor must refuse.
    #[serde(default)]
    pub(crate) bad: Vec<Bad>,
    /// Calls that Candor mends.
    #[serde(default)]
    pub(crate) repaired: Vec<Repaired>,
    /// Bad arguments that no schema forbids.
    #[serde(default)]
    pub(crate) unchecked: Vec<Call>,
    /// Calls that fail.
    #[serde(default)]
    pub(crate) failure: Vec<Call>,
    /// Calls whose answer only looks like a failure.
    #[serde(default)]
    pub(crate) honest: Vec<Call>,
    /// More calls that work: none of them may be flagged.
    #[serde(default)]
    pub(crate) works: Vec<Call>,
    #[serde(skip, default = "scratch")]
    scratch: tempfile::TempDir,
}

/// A call that reaches the server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: Value,
    /// How it ends, as `how` of the decision table.
    #[serde(default = "ok")]
    pub(crate) how: String,
    /// A part of the server's words.
    #[serde(default)]
    pub(crate) says: String,
    /// How like the bare answer the one through Candor must be.
    #[serde(default)]
    pub(crate) same: Same,
}

/// How like two answers of a server are to the same call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Same {
    /// To the byte.
    #[default]
    Bytes,
    /// In members and types; the server tells times, durations or the like.
    Shape,
}

/// A call that Candor refuses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bad {
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: Value,
    /// Where the fault is, as a JSON Pointer.
    pub(crate) field: String,
    /// A part of what was expected.
    pub(crate) expected: String,
    /// A part of what was received; none where nothing was.
    #[serde(default)]
    pub(crate) received: Option<String>,
}

/// A call whose arguments Candor mends without loss.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repaired {
    /// The tool.
    pub(crate) tool: String,
    /// What the host says.
    pub(crate) arguments: Value,
    /// What the server must get.
    pub(crate) reaches: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subjects {
    subject: Vec<Subject>,
}

fn ok() -> String {
    "ok".to_owned()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn root() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).to_owned()
}

fn text() -> String {
    std::fs::read_to_string(root().join("subjects/subjects.toml")).unwrap()
}

/// The names of all subjects, in their order.
pub(crate) fn names() -> Vec<String> {
    let subjects: Subjects = toml::from_str(&text()).unwrap();
    subjects.subject.into_iter().map(|subject| subject.name).collect()
}

impl Subject {
    /// The subject with this name. Where it is not installed, says so and gives none; in CI that is a failure.
    pub(crate) fn installed(name: &str) -> Option<Self> {
        let scratch = scratch();
        let servers = root().join(".subjects");
        let text = text()
            .replace("$S", servers.canonicalize().unwrap_or(servers).to_str().unwrap())
            .replace("$D", Self::work(&scratch).to_str().unwrap());
        let subjects: Subjects = toml::from_str(&text).unwrap();
        let mut subject = subjects
            .subject
            .into_iter()
            .find(|subject| subject.name == name)
            .unwrap();
        subject.scratch = scratch;
        let missing = subject
            .start
            .iter()
            .find(|word| word.contains("/.subjects/") && !Path::new(word).exists());
        let Some(missing) = missing else {
            return Some(subject);
        };
        assert!(
            std::env::var_os("CI").is_none(),
            "{missing} is not installed: run scripts/subjects.sh"
        );
        eprintln!("skipped: no {missing} (run scripts/subjects.sh)");
        None
    }

    /// The folder it runs in: the same path in each run, so that answers which name it are the same too.
    pub(crate) fn folder(&self) -> PathBuf {
        Self::work(&self.scratch)
    }

    fn work(scratch: &tempfile::TempDir) -> PathBuf {
        scratch.path().join("work")
    }

    /// Makes the folder anew.
    pub(crate) fn lay(&self) {
        let folder = self.folder();
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in &self.files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        if self.git {
            let made = Command::new("git")
                .args(["init", "--quiet"])
                .arg(&folder)
                .status()
                .unwrap();
            assert!(made.success());
        }
    }

    /// The command that starts it, cut off from the network and from the machine's own variables.
    pub(crate) fn command(&self) -> Vec<OsString> {
        isolation::command(&self.folder(), &self.env, &self.start)
    }

    /// The calls that reach it, in the order they are made, each with the name it has in the answers.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (String, &Call)> {
        let named = |kind: &'static str| move |(at, call)| (format!("{kind} {at}"), call);
        let good = self.good.iter().enumerate().map(named("good"));
        good.chain(self.unchecked.iter().enumerate().map(named("unchecked")))
            .chain(self.failure.iter().enumerate().map(named("failure")))
            .chain(self.honest.iter().enumerate().map(named("honest")))
    }
}
