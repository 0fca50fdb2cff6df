//! Every method of rmcp's `ServerHandler` is passed on: one that is missing would silently be rmcp's default.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Where the pinned rmcp lies.
fn rmcp() -> (String, PathBuf) {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&cargo.stdout).expect("it is JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let rmcp = packages
        .iter()
        .find(|package| package["name"] == "rmcp")
        .expect("rmcp is one");
    let version = rmcp["version"].as_str().expect("a version").to_owned();
    let manifest = PathBuf::from(rmcp["manifest_path"].as_str().expect("a path"));
    (version, manifest.parent().expect("a folder").to_owned())
}

fn functions(source: &str) -> BTreeSet<String> {
    let lines = source
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with("//"));
    lines
        .filter_map(|line| {
            line.strip_prefix("async fn ")
                .or_else(|| line.strip_prefix("fn "))
        })
        .filter_map(|rest| rest.split(['(', '<']).next().map(str::to_owned))
        .collect()
}

#[test]
fn no_method_of_the_pinned_rmcp_is_forgotten() {
    let (version, folder) = rmcp();
    assert_eq!(
        version, "3.11.0",
        "another rmcp: look at its methods and at rmcp's refusal in parameters.rs"
    );
    let source = std::fs::read_to_string(folder.join("src/handler/server.rs")).expect("it is there");
    let begin = source
        .find("macro_rules! server_handler_methods")
        .expect("where methods are declared");
    let end = source
        .find("macro_rules! impl_server_handler_for_wrapper")
        .expect("where they end");
    let theirs = functions(&source[begin..end]);
    let ours = include_str!("../../src/handler.rs");
    let begin = ours
        .find("impl<S: ServerHandler> ServerHandler for Candor<S>")
        .expect("the impl");
    let end = ours.find("impl<S: ServerHandler> Candor<S>").expect("its end");
    let body = &ours[begin..end];
    let mut passed = functions(body);
    // Inside the macros a method is a line `name(Params) -> Result;` or `name(Params);`.
    let in_macros = body.lines().map(str::trim).filter(|line| line.ends_with(';'));
    passed.extend(
        in_macros
            .filter_map(|line| line.split_once('('))
            .map(|(name, _)| name.to_owned()),
    );
    let forgotten: Vec<&String> = theirs.difference(&passed).collect();
    assert!(forgotten.is_empty(), "{forgotten:?}");
    assert_eq!(theirs.len(), 32);
}

#[test]
fn rmcps_words_for_arguments_that_it_can_not_read_are_the_ones_we_look_for() {
    let (_, folder) = rmcp();
    let router =
        std::fs::read_to_string(folder.join("src/handler/server/router/tool.rs")).expect("it is there");
    let declared =
        r#"TOOL_ARGUMENT_DESERIALIZATION_ERROR_PREFIX: &str = "failed to deserialize parameters:""#;
    assert!(router.contains(declared));
}
