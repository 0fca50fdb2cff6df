//! Servers cut off: no network but a loopback of their own, none of the machine's variables, and none left behind.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use crate::harness::host::DEADLINE;

/// The variable by which the processes of one subject are known, whatever became of their parents.
const MARK: &str = "CANDOR_FIELD_FOLDER";

/// Runs what follows in a namespace of its own whose only network is its loopback.
const CUT_OFF: &[&str] = &[
    "unshare",
    "--net",
    "--map-root-user",
    "--",
    "sh",
    "-c",
    "ip link set lo up && exec \"$@\"",
    "sh",
];

/// Whether this machine lets a test make such a namespace. Said once, because failures differ where it does not.
static MAY_CUT_OFF: LazyLock<bool> = LazyLock::new(|| {
    let tried = Command::new(CUT_OFF[0])
        .args(&CUT_OFF[1..])
        .arg("true")
        .stderr(Stdio::null())
        .status();
    let may = tried.is_ok_and(|status| status.success());
    let place = if may {
        "in a network namespace with a loopback only"
    } else {
        "on this machine's network: it permits no namespace"
    };
    // Not by a macro: those are kept from view while a test passes.
    let _ = writeln!(std::io::stderr(), "servers run {place}");
    may
});

/// A command that runs these words in this folder, cut off.
pub(crate) fn command(folder: &Path, env: &BTreeMap<String, String>, words: &[String]) -> Vec<OsString> {
    let mut command: Vec<OsString> = Vec::new();
    if *MAY_CUT_OFF {
        command.extend(CUT_OFF.iter().map(OsString::from));
    }
    command.extend(["sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh"].map(OsString::from));
    command.push(folder.into());
    command.extend(["env", "-i", "LANG=C.UTF-8"].map(OsString::from));
    let mut set = |name: &str, value: OsString| {
        let mut word = OsString::from(format!("{name}="));
        word.push(value);
        command.push(word);
    };
    set("PATH", std::env::var_os("PATH").unwrap_or_default());
    for name in ["HOME", "TMPDIR", MARK] {
        set(name, folder.into());
    }
    for (name, value) in env {
        set(name, value.into());
    }
    command.extend(words.iter().map(OsString::from));
    command
}

/// The processes of the subject that runs in this folder. One that is dead and was not waited for is none.
pub(crate) fn processes_of(folder: &Path) -> Vec<u32> {
    let mark = format!("{MARK}={}", folder.display());
    let has_mark = |pid: &u32| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ
            .split(|byte| *byte == 0)
            .any(|variable| variable == mark.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(has_mark).collect()
}

/// Fails unless all processes of the subject are gone, at once or as soon as the system has ended them.
pub(crate) fn assert_none_left(folder: &Path) {
    let start = Instant::now();
    loop {
        let left = processes_of(folder);
        if left.is_empty() {
            return;
        }
        if start.elapsed() > DEADLINE {
            end_all(folder);
            panic!("processes outlive Candor: {left:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Ends what is left of a subject: some do not end when their stdin does.
pub(crate) fn end_all(folder: &Path) {
    for pid in processes_of(folder) {
        // It may have ended by itself meanwhile.
        let _ = Command::new("kill")
            .args(["-9", &pid.to_string()])
            .stderr(Stdio::null())
            .status();
    }
}

#[test]
fn a_process_is_known_by_its_folder_until_it_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let words = command(
        folder.path(),
        &BTreeMap::from([("NEEDED".to_owned(), "yes".to_owned())]),
        &["sh", "-c", "env; echo started; read -r line"].map(str::to_owned),
    );
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("HTTPS_PROXY", "http://proxy:1");
    let mut host = crate::harness::host::Host::start(command);
    let mut seen = Vec::new();
    while seen.last().map(String::as_str) != Some("started") {
        seen.push(host.next());
    }
    assert!(seen.contains(&"NEEDED=yes".to_owned()), "{seen:?}");
    assert!(!seen.iter().any(|line| line.contains("PROXY")), "{seen:?}");
    assert_eq!(processes_of(folder.path()).len(), 1);
    host.close();
    assert_none_left(folder.path());
}
