//! Looks for a call in Candor's ledger while the call is open, by asking `candor calls --json`: this crate must not know
//! how the ledger keeps its records, or the test that uses it would prove only that two programs share a library.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::options::Serve;

/// How long the other program may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The operations of `tool` in the ledger, as a raw JSON array of the lines that `candor calls --json` prints; or a JSON
/// string that says why they can't be had.
pub(crate) fn operations_of(tool: &str, options: &Serve) -> String {
    match asked(options) {
        Ok(lines) => {
            let own: Vec<&str> = lines.lines().filter(|line| is_of(tool, line)).collect();
            format!("[{}]", own.join(","))
        }
        Err(why) => serde_json::Value::from(why).to_string(),
    }
}

fn asked(options: &Serve) -> Result<String, String> {
    let ledger = options
        .ledger
        .clone()
        .ok_or("look_in_ledger needs --ledger FILE")?;
    let program = match &options.candor {
        Some(program) => program.clone(),
        None => std::env::current_exe().map_err(|fault| fault.to_string())?,
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(calls(&program, &ledger)));
    receiver
        .recv_timeout(PATIENCE)
        .map_err(|_| format!("no answer in {} s", PATIENCE.as_secs()))?
}

fn calls(program: &PathBuf, ledger: &Path) -> Result<String, String> {
    let output = Command::new(program)
        .args(["calls", "--json", "--ledger"])
        .arg(ledger)
        .stdin(Stdio::null())
        .output()
        .map_err(|fault| format!("can't start {}: {fault}", program.display()))?;
    if !output.status.success() {
        return Err(format!(
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a line is JSON and names this tool. What is not JSON would break the answer it is put into.
fn is_of(tool: &str, line: &str) -> bool {
    #[derive(Deserialize)]
    struct Line {
        tool: String,
    }
    serde_json::from_str::<&RawValue>(line).is_ok()
        && serde_json::from_str::<Line>(line).is_ok_and(|found| found.tool == tool)
}
