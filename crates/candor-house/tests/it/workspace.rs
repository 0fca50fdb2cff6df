//! The workspace as these tests see it: its files, and what cargo says of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use serde_json::Value;

/// The folder that holds the workspace's Cargo.toml.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/candor-house is two below")
        .to_owned()
}

/// The text of a file, named from the root.
pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|fault| panic!("{path}: {fault}"))
}

/// A TOML file, named from the root.
pub(crate) fn toml(path: &str) -> toml::Table {
    text(path)
        .parse()
        .unwrap_or_else(|fault| panic!("{path}: {fault}"))
}

/// One of our source files.
pub(crate) struct Source {
    /// From the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Does it go into the product (and not only into tests)?
    pub(crate) fn is_product(&self) -> bool {
        self.path.split('/').nth(2) == Some("src")
            && !self
                .path
                .split('/')
                .any(|part| part == "tests" || part == "tests.rs")
    }
}

/// Every Rust file of ours, new ones that git does not know yet too.
pub(crate) fn sources() -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of ours can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path
                    .strip_prefix(&root)
                    .expect("below the root")
                    .to_string_lossy()
                    .replace('\\', "/");
                found.push(Source {
                    path: name,
                    text: fs::read_to_string(&path).expect("our sources are UTF-8"),
                });
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(
        found.len() > 100,
        "only {} files were found under {}",
        found.len(),
        root.display()
    );
    found
}

/// The Markdown pages that are ours, named from the root.
pub(crate) fn documents() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/codes"] {
        let Ok(entries) = fs::read_dir(root().join(folder)) else {
            continue;
        };
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
        let pages = names.filter(|name| name.ends_with(".md"));
        found.extend(pages.map(|name| Path::new(folder).join(name).to_string_lossy().into_owned()));
    }
    found.sort();
    found
}

/// Runs cargo in the workspace and gives what it wrote to its stdout.
pub(crate) fn cargo(arguments: &[&str]) -> String {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let out = Command::new(cargo)
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo can be run");
    assert!(
        out.status.success(),
        "cargo {} failed; where crates are missing, `cargo fetch --locked` brings them:\n{}",
        arguments.join(" "),
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8(out.stdout).expect("cargo writes UTF-8")
}

/// The platforms Candor is built for, as deny.toml names them.
pub(crate) fn platforms() -> Vec<String> {
    let deny = toml("deny.toml");
    let targets = deny
        .get("graph")
        .and_then(|graph| graph.get("targets"))
        .and_then(toml::Value::as_array);
    let names = targets
        .expect("deny.toml has graph.targets")
        .iter()
        .filter_map(toml::Value::as_str);
    names.map(str::to_owned).collect()
}

/// What `cargo metadata` says, for the platforms Candor is built for.
pub(crate) fn metadata() -> &'static Value {
    static METADATA: OnceLock<Value> = OnceLock::new();
    METADATA.get_or_init(|| {
        let mut arguments = vec!["metadata", "--format-version", "1", "--locked"];
        let platforms = platforms();
        for platform in &platforms {
            arguments.extend(["--filter-platform", platform]);
        }
        serde_json::from_str(&cargo(&arguments)).expect("cargo metadata writes JSON")
    })
}

/// The packages of the workspace.
pub(crate) fn members() -> Vec<&'static Value> {
    let packages = list(metadata(), "packages");
    packages
        .iter()
        .filter(|package| package.get("source").is_some_and(Value::is_null))
        .collect()
}

/// A member that is a list.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .unwrap_or_else(|| panic!("no list {name}"))
}

/// A member that is a text.
pub(crate) fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("no text {name}"))
}
