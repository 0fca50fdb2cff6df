//! The examples as programs: where cargo put them, and the one that is a server of its own.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// How long a server may take to say where it is. Long, because it is never a measure of anything.
const DEADLINE: Duration = Duration::from_secs(60);

/// The program of an example. `cargo test` builds them all; where only this test was asked for, it builds them if they are
/// absent. Whoever changes an example and runs only this test builds it first: `cargo build -p candor --examples`.
pub(crate) fn program(example: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        // target/PROFILE/deps/official-HASH
        let own = std::env::current_exe().unwrap();
        let profile = own.ancestors().nth(2).unwrap();
        let folder = profile.join("examples");
        let is_there = |name: &&str| {
            folder
                .join(name)
                .with_extension(std::env::consts::EXE_EXTENSION)
                .exists()
        };
        if !["flight", "rooms", "incidents"].iter().all(is_there) {
            let build = std::process::Command::new(env!("CARGO"))
                .args(["build", "--quiet", "-p", "candor", "--examples", "--target-dir"])
                .arg(profile.parent().unwrap())
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status();
            assert!(build.unwrap().success(), "the examples can't be built");
        }
        folder
    });
    let program = folder
        .join(example)
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "no {} (run cargo build -p candor --examples)",
        program.display()
    );
    program
}

/// The example `incidents` while it runs. It ends with this value.
pub(crate) struct Incidents {
    pub(crate) url: String,
    /// Badges by who carries them.
    pub(crate) badges: HashMap<String, String>,
    _running: Child,
}

impl Incidents {
    pub(crate) async fn start() -> Self {
        let mut command = Command::new(program("incidents"));
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut running = command.kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(running.stderr.take().unwrap()).lines();
        let told = async {
            let url = lines.next_line().await.unwrap().unwrap();
            let mut badges = HashMap::new();
            while badges.len() < 3 {
                let line = lines.next_line().await.unwrap().unwrap();
                let (who, badge) = line.split_once(": Authorization: Bearer ").unwrap();
                badges.insert(who.to_owned(), badge.to_owned());
            }
            (url, badges)
        };
        let told = tokio::time::timeout(DEADLINE, told).await;
        let (url, badges) = told.expect("it says where it is");
        Self {
            url,
            badges,
            _running: running,
        }
    }
}
