//! How Candor ends: with the code of the server it stood before, or its own where there was none.

use std::process::Command;

use candor_fixtures::script::Era;

use crate::harness::{
    conversation::Opening,
    host::Host,
    scene::{Scene, Way, candor},
};

#[test]
fn the_servers_exit_code_is_passed_on() {
    for (script, list, expected) in [("rooms", true, 0), ("rooms", false, 0), ("gone", true, 7)] {
        let (scene, opening) = (Scene::of(script), Opening::newest(Era::Legacy));
        let mut host = scene.start(Way::Through);
        opening.open(&mut host);
        if list {
            opening.list(&mut host);
        }
        if expected != 0 {
            host.wait_until_server_is_gone();
        }
        let transcript = scene.end(Way::Through, host);
        assert_eq!(transcript.code, Some(expected), "{script}: {}", transcript.errors);
    }
}

#[test]
fn a_server_that_can_not_be_started_is_4_and_says_what_to_do() {
    let scene = Scene::of("rooms");
    let mut command = Command::new(candor());
    command
        .arg("--ledger")
        .arg(scene.ledger())
        .args(["--", "no-such-command-anywhere"]);
    let ended = Host::start(command).close();
    assert_eq!(ended.code, Some(4), "{}", ended.errors);
    assert!(
        ended.errors.contains("no-such-command-anywhere"),
        "{}",
        ended.errors
    );
    assert!(
        ended.received.is_empty(),
        "nothing but protocol goes to stdout: {:?}",
        ended.received
    );
}

#[test]
fn a_usage_error_is_2_and_goes_to_stderr() {
    for arguments in [
        &["--no-such-option", "--", "true"][..],
        &["--timeout", "soon", "--", "true"],
        &["--"],
    ] {
        let mut command = Command::new(candor());
        command.args(arguments);
        let ended = Host::start(command).close();
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.errors);
        assert!(
            !ended.errors.is_empty() && ended.received.is_empty(),
            "{arguments:?}"
        );
    }
}
