//! One server with a known read, a known write and a tool that nobody classified, before a ledger in a folder of its own.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use candor_fixtures::{Truth, script::Era};
use serde_json::{Value, json};

use crate::harness::{conversation::Opening, host::Host, scene::candor};

pub(crate) const READ: &str = "ok_no_count";
pub(crate) const WRITE: &str = "flagged_though_done";
pub(crate) const UNCLASSIFIED: &str = "ok";

const CONFIG: &str = r#"
[servers.fixture.tools.ok_no_count]
effect = "read"

[servers.fixture.tools.flagged_though_done]
effect = "write"
"#;

/// The files of one test.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    world: World,
    script: &'static str,
}

/// What the commands of a stage run in.
#[derive(Debug, Clone, Copy)]
enum World {
    /// What the test runs in.
    Ours,
    /// A mount namespace of its own, in which this shell script has prepared the ledger's disk, `$D`.
    Mounted(&'static str),
    /// Without the right of a superuser to write what only may be read.
    Unprivileged,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::playing("results")
    }

    pub(crate) fn playing(script: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("disk")).unwrap();
        std::fs::write(folder.path().join("candor.toml"), CONFIG).unwrap();
        Self {
            folder,
            world: World::Ours,
            script,
        }
    }

    /// From now on every command runs behind this script; false where the system does not permit that.
    pub(crate) fn mount(&mut self, script: &'static str) -> bool {
        self.enter(World::Mounted(script))
    }

    /// From now on no command may write what its mode forbids; false where the system does not permit that.
    pub(crate) fn drop_rights(&mut self) -> bool {
        let probe = self.file("probe");
        std::fs::write(&probe, "").unwrap();
        let mut mode = std::fs::metadata(&probe).unwrap().permissions();
        mode.set_readonly(true);
        std::fs::set_permissions(&probe, mode).unwrap();
        let superuser = std::fs::OpenOptions::new().write(true).open(&probe).is_ok();
        !superuser || self.enter(World::Unprivileged)
    }

    fn enter(&mut self, world: World) -> bool {
        self.world = world;
        let permitted = self
            .command(&["--version"])
            .output()
            .is_ok_and(|output| output.status.success());
        if !permitted {
            eprintln!("skipped: the system does not permit {world:?}");
        }
        permitted
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.path().join("disk").join("ledger.sqlite")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn ledger_file(&self, suffix: &str) -> PathBuf {
        let mut name = self.ledger().into_os_string();
        name.push(suffix);
        name.into()
    }

    /// Candor with these arguments, where this stage's disk is.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = match self.world {
            World::Ours => Command::new(candor()),
            World::Mounted(script) => {
                let mut command = Command::new("unshare");
                command
                    .args(["--map-root-user", "--mount", "sh", "-c"])
                    .arg(format!("set -e; {script}; exec \"$@\""))
                    .arg("sh")
                    .arg(candor())
                    .env("D", self.folder.path().join("disk"));
                command
            }
            World::Unprivileged => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--bounding-set=-all", "--inh-caps=-all"])
                    .arg(candor());
                command
            }
        };
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_remove("CANDOR_LEDGER")
            .env_remove("CANDOR_CONFIG");
        command
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// A command that looks at this ledger.
    pub(crate) fn look(&self, arguments: &[&str]) -> Output {
        let ledger = self.ledger();
        let mut all: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        all.extend([OsStr::new("--ledger"), ledger.as_os_str()]);
        self.run(&all)
    }

    pub(crate) fn assert_verifies(&self) {
        let output = self.look(&["ledger", "verify"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }

    /// What `candor calls` has of this ledger.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let output = self.look(&["calls", "--json", "--limit", "100000"]);
        assert!(output.status.success(), "{}", said(&output));
        lines_of_json(&output.stdout)
    }

    /// Starts the server behind Candor, and opens the conversation.
    pub(crate) fn start(&self, options: &[&str]) -> Session {
        let mut arguments: Vec<OsString> = vec!["--ledger".into(), self.ledger().into()];
        arguments.extend(["--name", "fixture", "--config", "candor.toml"].map(OsString::from));
        arguments.extend(options.iter().map(OsString::from));
        arguments.extend([OsString::from("--"), candor()]);
        arguments.extend(
            [
                "fixture",
                "liar",
                "--script",
                self.script,
                "--truth",
                "truth.jsonl",
            ]
            .map(OsString::from),
        );
        let opening = Opening::newest(Era::Legacy);
        let mut host = Host::start(self.command(&arguments));
        opening.open(&mut host);
        opening.list(&mut host);
        Session {
            host,
            opening,
            asked: 0,
        }
    }

    /// How often this tool was really called.
    pub(crate) fn truly(&self, tool: &str) -> usize {
        let truth = Truth::read(&self.file("truth.jsonl")).unwrap();
        truth.iter().filter(|line| line.tool == tool).count()
    }
}

/// A conversation.
pub(crate) struct Session {
    pub(crate) host: Host,
    opening: Opening,
    asked: u32,
}

impl Session {
    pub(crate) fn ask(&mut self, tool: &str) -> Answer {
        self.ask_with(tool, &json!({}))
    }

    pub(crate) fn ask_with(&mut self, tool: &str, arguments: &Value) -> Answer {
        self.asked += 1;
        let call = self.opening.call(&self.asked.to_string(), tool, arguments);
        Answer(serde_json::from_str(&self.host.ask(&call)).unwrap())
    }

    /// Closes; gives stderr.
    pub(crate) fn close(self) -> String {
        self.host.close().errors
    }
}

/// What came back of a call.
#[derive(Debug)]
pub(crate) struct Answer(pub(crate) Value);

impl Answer {
    pub(crate) fn is_refused(&self) -> bool {
        self.0["result"]["_meta"]["candor/verdict"]["protocol"] == "not_sent"
    }

    /// Refused by Candor, in the words for it, because of `why`.
    #[track_caller]
    pub(crate) fn assert_refused(&self, tool: &str, why: &str) {
        let result = &self.0["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let expected = [
            format!("NOT DONE: {tool} was not sent"),
            format!("the record of calls can't be written ({why})"),
            "Nothing changed.".to_owned(),
            "Every such call gets this answer until a person".to_owned(),
        ];
        for part in expected {
            assert!(text.contains(&part), "no {part:?} in {:#}", self.0);
        }
        let verdict = &result["_meta"]["candor/verdict"];
        assert_eq!(result["isError"], true);
        assert_eq!(
            (&verdict["outcome"], &verdict["effect"], &verdict["recorded"]),
            (&json!("failed"), &json!("not_applied"), &json!(false))
        );
    }

    /// Sent and answered, and it says that there is no record, because of `why`.
    #[track_caller]
    pub(crate) fn assert_unrecorded(&self, why: &str) {
        let meta = &self.0["result"]["_meta"];
        assert_eq!(meta["candor/verdict"]["protocol"], "delivered", "{:#}", self.0);
        assert_eq!(meta["candor/verdict"]["recorded"], false, "{:#}", self.0);
        assert_eq!(meta["candor/notRecorded"], why, "{:#}", self.0);
    }

    /// Sent and answered.
    #[track_caller]
    pub(crate) fn assert_delivered(&self) {
        assert_eq!(
            self.0["result"]["_meta"]["candor/verdict"]["protocol"], "delivered",
            "{:#}",
            self.0
        );
    }

    /// Sent, answered and recorded. A known read's record is on its way, and its verdict does not say more than that.
    #[track_caller]
    pub(crate) fn assert_recorded(&self) {
        self.assert_delivered();
        let meta = &self.0["result"]["_meta"];
        let verdict = &meta["candor/verdict"];
        let expected = match verdict["effect"].as_str() {
            Some("not_applied") => Value::Null,
            _ => Value::Bool(true),
        };
        assert_eq!(verdict["recorded"], expected, "{:#}", self.0);
        assert!(meta.get("candor/notRecorded").is_none(), "{:#}", self.0);
    }
}

pub(crate) fn lines_of_json(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
