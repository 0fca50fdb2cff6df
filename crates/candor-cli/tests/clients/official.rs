//! Runs the official clients that are not Rust: a process each, which reads the plan and prints what its caller saw.

use std::{
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;

use crate::judge::Seen;

/// How long a client may take for its whole plan. Long, because it is never a measure of anything.
const DEADLINE: Duration = Duration::from_secs(240);

/// Plays the plan with a script of the TypeScript SDK's clients.
pub(crate) fn typescript(script: &str, plan: &Path) -> Option<Vec<Seen>> {
    typescript_seen(script, plan)
}

/// Runs a script of the TypeScript SDK's clients, and reads what it printed.
pub(crate) fn typescript_seen<T: DeserializeOwned>(
    script: &str,
    argument: impl AsRef<OsStr>,
) -> Option<Vec<T>> {
    installed("typescript/node_modules")?;
    let mut command = Command::new("node");
    command
        .arg(folder().join("typescript").join(script))
        .arg(argument);
    Some(run(command))
}

/// Plays the plan with one line of the Python SDK.
pub(crate) fn python(line: &str, plan: &Path) -> Option<Vec<Seen>> {
    let python = installed(&format!("python/.venv-{line}/bin/python"))?;
    let mut command = Command::new(python);
    command
        .arg("-B")
        .arg(folder().join(format!("python/v{line}.py")))
        .arg(plan);
    Some(run(command))
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients"))
}

/// A file under `clients`; where it is not installed, says so and gives none. In CI that is a failure.
fn installed(file: &str) -> Option<PathBuf> {
    let path = folder().join(file);
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{} is not installed",
        path.display()
    );
    eprintln!("skipped: no {} (run scripts/clients.sh)", path.display());
    None
}

/// Runs a client to its end, and reads every line it printed.
fn run<T: DeserializeOwned>(mut command: Command) -> Vec<T> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|fault| panic!("can't start {command:?}: {fault}"));
    let (code, out, errors) = ended(child);
    let seen = out.lines().map(|line| {
        serde_json::from_str(line)
            .unwrap_or_else(|fault| panic!("the client printed {line:?}: {fault}\n{errors}"))
    });
    let seen = seen.collect();
    assert_eq!(code, Some(0), "the client failed:\n{errors}");
    seen
}

/// Waits for the end of a process, or ends it; gives its exit code and what it wrote.
fn ended(mut child: Child) -> (Option<i32>, String, String) {
    let (out, errors) = (reading(child.stdout.take()), reading(child.stderr.take()));
    let began = Instant::now();
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if began.elapsed() > DEADLINE => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    (code, out.join().unwrap(), errors.join().unwrap())
}

fn reading(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.unwrap().read_to_string(&mut text).unwrap();
        text
    })
}
