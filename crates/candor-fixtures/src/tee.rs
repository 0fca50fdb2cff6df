//! Stands between two programs and records every byte each way, in files, before passing it on.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use crate::{Fault, options::Tee};

const CHUNK: usize = 64 * 1024;

/// Runs the command between our pipes until it ends, and gives its exit code (128 and the signal where one ended it).
/// Our own stdin is then left unread: the process must exit with the code, not wait for that end.
pub(crate) fn run(tee: &Tee) -> Result<i32, Fault> {
    let into = record(&tee.into)?;
    let out_of = record(&tee.out_of)?;
    let mut child = Command::new(&tee.program)
        .args(&tee.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|source| Fault::Program {
            program: tee.program.clone().into(),
            source,
        })?;
    if let Some(child_input) = child.stdin.take() {
        thread::spawn(move || copy(std::io::stdin(), into, child_input));
    }
    if let Some(child_output) = child.stdout.take() {
        // Until its end: what the command wrote before it died must arrive before our own end does.
        copy(child_output, out_of, std::io::stdout());
    }
    let status = child.wait()?;
    Ok(status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(1))
}

fn record(path: &Path) -> Result<File, Fault> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.map_err(|source| Fault::File {
        path: path.to_owned(),
        source,
    })
}

/// Copies until either side ends. An end is passed on by dropping `to`; there is nobody to tell about a fault.
fn copy(mut from: impl Read, mut record: File, mut to: impl Write) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        let Some(bytes) = chunk.get(..length) else { return };
        if record.write_all(bytes).is_err() || to.write_all(bytes).is_err() || to.flush().is_err() {
            return;
        }
    }
}
