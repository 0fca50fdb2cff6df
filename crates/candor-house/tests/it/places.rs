//! What is published says nothing of the machine it was made on.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use super::workspace::root;

/// Words that belong to a machine or to a registry, put together here so that this file does not hold them.
fn needles() -> Vec<String> {
    let mut needles: Vec<String> = [
        // Registries: what a lock file names is the only place for them.
        ["npm", "js.org"],
        ["python", "hosted"],
        ["/crates", ".io"],
        [".crates", ".io"],
        ["deb.", "debian"],
        ["pypi", ".org"],
        // Homes and scratch folders.
        ["/wo", "rk/"],
        ["/fa", "rm/"],
        ["/ro", "ot/"],
        ["/Us", "ers/"],
        ["/tm", "p/t-"],
    ]
    .iter()
    .map(|pieces| pieces.concat())
    .collect();
    needles.push(root().to_string_lossy().into_owned());
    if let Some(home) = env::home_dir().filter(|home| home.components().count() > 2) {
        needles.push(home.to_string_lossy().into_owned());
    }
    needles
}

/// The lines of a file that say something of a machine.
fn told(path: &str, text: &str, needles: &[String]) -> Vec<String> {
    let is_lock = path == "Cargo.lock";
    let tells = |line: &&str| {
        !(is_lock && line.starts_with("source = \"registry+"))
            && needles.iter().any(|needle| line.contains(needle.as_str()))
    };
    text.lines()
        .filter(tells)
        .map(|line| format!("{path}: {}", line.trim().chars().take(160).collect::<String>()))
        .collect()
}

/// The files that git has, from the root; `None` where this is no clone.
fn tracked() -> Option<Vec<String>> {
    let out = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root())
        .output()
        .ok()?;
    let names = String::from_utf8(out.stdout).ok()?;
    let names: Vec<String> = names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    (out.status.success() && !names.is_empty()).then_some(names)
}

#[test]
fn no_tracked_file_names_a_machine_or_a_registry() {
    let Some(tracked) = tracked() else {
        assert!(
            env::var_os("CI").is_none(),
            "CI runs in a clone, but git lists no files here"
        );
        eprintln!("skipped: this is no git clone");
        return;
    };
    let needles = needles();
    let mut found = Vec::new();
    for path in tracked {
        // Deleted and not committed yet, or not text: nothing to read.
        if let Ok(text) = fs::read_to_string(Path::new(&root()).join(&path)) {
            found.extend(told(&path, &text, &needles));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_machines_words_are_seen_and_the_locks_own_are_not() {
    let needles = needles();
    let registry = ["https://index", ".crates", ".io/x"].concat();
    assert_eq!(told("a.md", &format!("one\nsee {registry}\n"), &needles).len(), 1);
    assert_eq!(
        told("Cargo.lock", &format!("checksum = \"{registry}\""), &needles).len(),
        1
    );
    assert_eq!(
        told(
            "Cargo.lock",
            &format!("source = \"registry+{registry}\""),
            &needles
        ),
        Vec::<String>::new()
    );
    assert_eq!(
        told(
            "b.rs",
            &format!("//! in {}", root().join("x").display()),
            &needles
        )
        .len(),
        1
    );
    assert_eq!(
        told(
            "a.md",
            "docs/config.md, ~/.local/state, $HOME/x, /home/ada",
            &needles
        ),
        Vec::<String>::new()
    );
}
